import RetintGraph
import RetintInspection
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

extension Model {
    /// The weights in the order in which operations use them.
    ///
    /// - Parameter types: the stored element types by name, of a model that is not a package.
    /// - Throws: the errors of the file if weights cannot be read; ``ModelError`` for a network
    ///   that cannot be run.
    func weights(_ types: [String: String]) throws -> [WeightSource] {
        if let package { return try weights(of: package) }
        guard case .network(let network) = source else {
            return try weights(of: graph(folds: false), types)
        }
        // A network whose shapes are open has no graph, but its weights.
        if let graph = try? graph(folds: false) { return try weights(of: graph, types) }
        return network.variables.sorted { $0.key < $1.key }.map { name, values in
            WeightSource(
                named: name, values.shape, storage: types[name].map(plainType),
                read: { try values.tensorData().scalars })
        }
    }

    private func weights(of package: MLPackage) throws -> [WeightSource] {
        let storage = package.program.weightStorage
        return try PackageConstants(package).arrays.map { name, value in
            WeightSource(
                weight: ModelDiff.Weight(
                    name: name, shape: value.type.shape ?? [],
                    storage: storage[name] ?? value.type.dataType.storage),
                read: { try value.floats() })
        }
    }

    private func weights(
        of graph: ModelGraph, _ types: [String: String]
    ) throws -> [WeightSource] {
        let nodes = graph.graph.nodes
        return try graph.weights.compactMap { weight in
            if let name = weight.name {
                return WeightSource(
                    named: name, weight.shape, storage: types[name].map(plainType),
                    read: weight.read)
            }
            // Positions or sizes are whole numbers.
            guard try weight.read().contains(where: { $0 != $0.rounded() }) else { return nil }
            let place = nodes[weight.user].module + "." + nodes[weight.user].operation.name
            return WeightSource(named: place, weight.shape, storage: nil, read: weight.read)
        }
    }
}

extension WeightSource {
    fileprivate init(
        named name: String, _ shape: Shape, storage: String?, read: @escaping () throws -> [Float]
    ) {
        weight = ModelDiff.Weight(name: name, shape: shape.dimensions, storage: storage)
        self.read = read
    }
}

/// `float32` for ONNX's `float`.
private func plainType(_ name: String) -> String {
    ["float": "float32", "double": "float64"][name] ?? name
}

extension MILDataType {
    /// The name as in other formats: `float16` for `fp16`.
    fileprivate var storage: String {
        switch self {
        case .float16: "float16"
        case .float32: "float32"
        case .bfloat16: "bfloat16"
        default: description
        }
    }
}

extension MILProgram {
    /// How weights are stored, by the names of the values that operations use.
    fileprivate var weightStorage: [String: String] {
        var storage: [String: String] = [:]
        for operation in operations where operation.isConstant || operation.isConstantExpression {
            for output in operation.outputs {
                storage[output.name] =
                    operation.isConstant
                    ? output.type.dataType.storage : operation.compression(storage)
            }
        }
        return storage
    }
}

extension MILOperation {
    /// What `constexpr_…` unpacks, such as `int8` or `4-bit palette`.
    ///
    /// - Parameter storage: of the values before it.
    fileprivate func compression(_ storage: [String: String]) -> String {
        // Before iOS18, indices of any number of bits are packed as bytes.
        if let palette = attributes["lut"]?.type.elementCount {
            let bits = palette.bitWidth - max(palette - 1, 0).leadingZeroBitCount
            return "\(bits)-bit palette"
        }
        let words = [
            "affine": "", "blockwise": "", "lut": " palette", "sparse": " sparse", "cast": "",
        ]
        let kind = words.first { type.hasPrefix("constexpr_\($0.key)") }?.value ?? " \(type)"
        let parameters = ["quantized_data", "indices", "data", "nonzero_data", "source_val"]
        for parameter in parameters {
            if let value = attributes[parameter] { return value.type.dataType.storage + kind }
            switch inputs[parameter]?.first {
            case .value(let value): return value.type.dataType.storage + kind
            case .name(let name): return (storage[name] ?? "") + kind
            case nil: continue
            }
        }
        return type
    }
}
