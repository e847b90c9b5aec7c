import Checkpoints
import Colorizers
import Conversion
import Engine
import Files
import MLPackage
import TensorGraph

/// How coarse a model's numbers are.
package enum ModelPrecision: String, Hashable, Sendable, Encodable {
    case float32, float16
    /// Weights are unpacked from fewer bits while the model loads.
    case quantized
}

/// The arithmetic that a model is run with.
package enum ComputePrecision: String, Hashable, Sendable, CaseIterable, Encodable {
    case float32
    /// Every operation's result is rounded to half precision.
    case float16
}

/// A checkpoint or a package as it stands on disk, ready to be run.
package struct VerifiedModel {
    package let path: String
    package let precision: ModelPrecision
    private let source: Source

    private enum Source {
        case checkpoint(Checkpoint, any Colorizer)
        case package(MLPackage)
    }

    /// Reads a model.
    ///
    /// - Throws: what reading a checkpoint or a package throws.
    package init(contentsOf path: String) throws {
        self.path = path
        if try isDirectory(path) {
            let package = try MLPackage(contentsOf: path)
            source = .package(package)
            precision = ModelPrecision(of: package)
        } else {
            let checkpoint = try Checkpoint(contentsOf: path)
            source = .checkpoint(checkpoint, try checkpoint.makeColorizer())
            precision = .float32
        }
    }

    /// What the model itself computes in; quantized weights say nothing about that.
    package var computePrecision: ComputePrecision {
        guard case .package(let package) = source else { return .float32 }
        return package.computesInHalf ? .float16 : .float32
    }

    /// The shape of lightness that the model takes where nothing else is said.
    ///
    /// - Throws: ``VerificationError`` if the model is no colorizer.
    package func lightnessShape() throws -> Shape {
        guard case .package(let package) = source else { return [1, 1, 256, 256] }
        let raised = try tellingModel { try raise(package) }
        guard raised.interface != nil else {
            throw VerificationError(
                .mismatch, path: path,
                "is no colorizer and cannot be run on lightness; give a reference file")
        }
        return raised.inputs[0].shape
    }

    /// Runs the model once.
    ///
    /// - Parameter inputs: matched by name, or by order where there is but one. Lightness is
    ///   0…100 even for a model that takes a picture: it is scaled, and not rounded to the
    ///   picture's levels, so that what is compared is the model.
    /// - Returns: the outputs in the model's order.
    /// - Throws: ``VerificationError`` if the inputs are not the model's, or it cannot be
    ///   run on them.
    package func run(
        _ inputs: [NamedTensor], compute: ComputePrecision = .float32
    ) throws -> [NamedTensor] {
        var options = CompileOptions()
        options.roundsToHalf = compute == .float16
        return try tellingModel {
            let body = try body(for: inputs)
            let program = try Program(outputs: body.outputs, options: options)
            try program.load(body.variables)
            let runs = try body.batches.map { try program.run($0) }
            return body.outputs.compactMap { output in
                joined(runs.compactMap { $0[output.name] }).map { NamedTensor(output.name, $0) }
            }
        }
    }

    /// Runs `body`; what goes wrong in it is the model's fault.
    private func tellingModel<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as GraphError {
            throw VerificationError(.badModel, path: path, "cannot be run: \(error)")
        } catch var error as ConversionError {
            error.file = ""
            throw VerificationError(.badModel, path: path, "\(error)")
        }
    }
}

/// A model for given inputs.
private struct Body {
    let outputs: [(name: String, value: Tensor)]
    let variables: [String: TensorData]
    /// The inputs of one run after the other.
    let batches: [[String: TensorData]]
}

extension VerifiedModel {
    private func body(for inputs: [NamedTensor]) throws -> Body {
        switch source {
        case .package(let package): try body(of: package, inputs)
        case .checkpoint(let checkpoint, let network): try body(of: checkpoint, network, inputs)
        }
    }

    private func body(
        of checkpoint: Checkpoint, _ network: any Colorizer, _ inputs: [NamedTensor]
    ) throws -> Body {
        let batches = batches(of: try matched(inputs, to: ["input"]), size: 1)
        let graph = Graph(mode: .inference)
        let ab = network(graph.input("input", batches[0]["input"]?.shape ?? .scalar))
        try graph.validate()
        return Body(outputs: [("ab", ab)], variables: checkpoint.variables, batches: batches)
    }

    private func body(of package: MLPackage, _ inputs: [NamedTensor]) throws -> Body {
        let declared = package.program.inputs
        let values = try matched(inputs, to: declared.map(\.name))
        let batches = batches(of: values, size: declared.first?.type.dimensions.first ?? nil)
        let raised = try raise(package, inputShapes: batches[0].mapValues(\.shape))
        guard let interface = raised.interface, interface.lightnessScale != 1 else {
            return Body(outputs: raised.outputs, variables: raised.variables, batches: batches)
        }
        let scaled = batches.map { values in
            values.mapValues { $0.scaled(by: interface.lightnessScale) }
        }
        return Body(outputs: raised.outputs, variables: raised.variables, batches: scaled)
    }

    private func matched(
        _ inputs: [NamedTensor], to names: [String]
    ) throws -> [String: TensorData] {
        if names.count == 1, inputs.count == 1 { return [names[0]: inputs[0].data] }
        let values = Dictionary(inputs.map { ($0.name, $0.data) }) { first, _ in first }
        guard Set(names) == Set(values.keys) else {
            throw VerificationError(
                .mismatch, path: path,
                "takes \(names.joined(separator: ", ")) where the reference has "
                    + "\(inputs.summary); write a reference with the inputs of the model")
        }
        return values
    }
}

/// Cuts pictures into batches of the size that a model takes; what cannot be cut stays whole.
private func batches(of values: [String: TensorData], size: Int?) -> [[String: TensorData]] {
    guard let size, size > 0, values.count == 1, let (name, data) = values.first,
        data.shape.rank == 4, data.shape[0] > size, data.shape[0].isMultiple(of: size)
    else { return [values] }
    var shape = data.shape
    shape[0] = size
    return stride(from: 0, to: data.scalars.count, by: shape.count).map { start in
        let scalars = Array(data.scalars[start..<start + shape.count])
        return [name: TensorData(shape: shape, scalars: scalars)]
    }
}

/// One batch of what several runs gave.
private func joined(_ parts: [TensorData]) -> TensorData? {
    guard parts.count > 1, var shape = parts.first?.shape, shape.rank > 0 else {
        return parts.first
    }
    shape[0] *= parts.count
    return TensorData(shape: shape, scalars: parts.flatMap(\.scalars))
}

extension TensorData {
    fileprivate func scaled(by factor: Float) -> TensorData {
        TensorData(shape: shape, scalars: scalars.map { $0 * factor })
    }
}

extension MLPackage {
    fileprivate var computesInHalf: Bool {
        program.operations.contains { operation in
            !operation.isConstant && !operation.isConstantExpression
                && operation.type != "cast" && operation.outputs.isHalf
        }
    }
}

extension [MILNamedType] {
    fileprivate var isHalf: Bool { contains { $0.type.dataType == .float16 } }
}

extension ModelPrecision {
    /// The coarsest that a package holds anywhere.
    package init(of package: MLPackage) {
        let operations = package.program.operations
        if operations.contains(where: \.isConstantExpression) {
            self = .quantized
        } else {
            self = operations.contains { $0.outputs.isHalf } ? .float16 : .float32
        }
    }
}
