import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// Converts a network to a package: for its default size, and for others that its inputs take.
struct NetworkConversion {
    private let network: ProtoNeuralNetwork
    private var interface: NetworkInterface

    init(_ model: ProtoModel) throws {
        switch model.type {
        case .neuralNetwork(let network), .neuralNetworkClassifier(let network),
            .neuralNetworkRegressor(let network):
            self.network = network
        default:
            throw MLPackageError(
                file: "", place: "", rule: "it does not contain a neural network",
                remedy: ModelFileReader.remedy)
        }
        interface = try NetworkInterface(model.description_p, network)
    }

    /// The program for one size of each input.
    private struct Converted {
        var program: MILProgram
        let target: DeploymentTarget
        let outputs: [Feature]
    }

    mutating func package() throws -> MLPackage {
        let standard = interface.inputs.map(\.feature.type.defaultShape)
        var converted = try converted(standard)
        let varied = interface.varied(from: standard) { sizes in
            guard let other = try? self.converted(sizes) else { return nil }
            guard let merged = try? converted.program.generalized(by: [other.program]) else {
                return false
            }
            converted.program = merged
            return true
        }
        // A network that is bound to its size keeps only that.
        if !varied { for index in interface.inputs.indices { interface.fixSize(of: index) } }
        if !varied { converted = try self.converted(standard) }
        let package = MLPackage(
            target: converted.target,
            description: ModelDescription(
                inputs: interface.inputs.map(\.feature), outputs: converted.outputs,
                metadata: interface.metadata), program: converted.program)
        try package.check(remedy: ModelFileReader.remedy)
        return package
    }

    private func converted(_ sizes: [[Int]]) throws -> Converted {
        let reader = NetworkReader()
        for (input, size) in zip(interface.inputs, sizes) {
            let boundary = ReadLayer(boundary: "input", input.name, reader)
            reader.define(input.name, try boundary.value(of: input, size))
        }
        try reader.read(network.layers)
        let outputs = try interface.outputs.map { output in
            let boundary = ReadLayer(boundary: "output", output.name, reader)
            guard let value = reader.value(output.name) else {
                throw boundary.error("no layer computes it")
            }
            let (blob, type) = try boundary.result(value, as: output.feature.type, network)
            try reader.output(blob, as: output.feature.name)
            return Feature(
                output.feature.name, type, shortDescription: output.feature.shortDescription)
        }
        return Converted(
            program: reader.builder.program, target: reader.target, outputs: outputs)
    }
}

// MARK: Sizes

extension NetworkInterface {
    /// Tries sizes that differ from the default ones until each axis that may vary has varied.
    ///
    /// - Parameter attempt: whether one program computes these sizes as well; nil if the network
    ///   cannot be converted for them, as for sizes that are too small.
    /// - Returns: whether all have, and no size needs another program.
    func varied(from standard: [[Int]], _ attempt: ([[Int]]) -> Bool?) -> Bool {
        var missing = Set<[Int]>()
        for (index, input) in inputs.enumerated() {
            for (axis, bounds) in input.feature.type.sizeBounds.enumerated()
            where bounds.lower != bounds.upper { missing.insert([index, axis]) }
        }
        for sizes in candidates(standard) where !missing.isEmpty {
            let differing = missing.filter { sizes[$0[0]][$0[1]] != standard[$0[0]][$0[1]] }
            guard !differing.isEmpty, let isMerged = attempt(sizes) else { continue }
            guard isMerged else { return false }
            missing.subtract(differing)
        }
        return missing.isEmpty
    }

    mutating func fixSize(of index: Int) {
        switch inputs[index].feature.type {
        case .multiArray(var array):
            array.flexibility = .fixed
            inputs[index].feature.type = .multiArray(array)
        case .image(var image):
            image.flexibility = .fixed
            inputs[index].feature.type = .image(image)
        }
    }

    private static let maximumListed = 16

    private func candidates(_ standard: [[Int]]) -> [[[Int]]] {
        let listed = inputs.map { input in
            (input.feature.type.listedShapes ?? []).prefix(Self.maximumListed)
        }
        // Sizes that differ by one show where a remainder matters.
        let scaled: [@Sendable (Int, SizeRange) -> Int] = [
            { size, _ in size + 1 }, { size, _ in size - 1 }, { size, _ in 2 * size },
            { size, _ in size / 2 }, { size, _ in 3 * size }, { _, range in range.upper ?? 0 },
            { _, range in range.lower },
        ]
        let count = max(listed.map(\.count).max() ?? 0, scaled.count)
        return (0..<count).map { turn in
            inputs.indices.map { index in
                let type = inputs[index].feature.type
                if type.listedShapes != nil {
                    let shapes = listed[index]
                    let shape = shapes.isEmpty ? standard[index] : shapes[turn % shapes.count]
                    return shape.count == standard[index].count ? shape : standard[index]
                }
                let bounds = type.sizeBounds
                guard bounds.count == standard[index].count else { return standard[index] }
                let other = scaled[turn % scaled.count]
                return zip(standard[index], bounds).map { size, range in
                    let wanted = other(size, range)
                    return wanted >= max(range.lower, 1) && wanted <= range.upper ?? .max
                        ? wanted : size
                }
            }
        }
    }
}
