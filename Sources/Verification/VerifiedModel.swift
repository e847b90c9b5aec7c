import Checkpoints
import ColorizerExport
import Colorizers
import Engine
import Files
import MIL
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
    /// Every operation's result is rounded to half precision, and so are inputs and weights.
    case float16
    /// Results that a package declares as float16 are rounded, others are not.
    case mixed
}

/// A checkpoint or a package as it stands on disk, ready to be run.
package struct VerifiedModel {
    package let path: String
    package let precision: ModelPrecision
    private let source: Source

    private enum Source {
        case checkpoint(Checkpoint, any ColorizerNetwork)
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
        return package.computePrecision
    }

    /// The shape of lightness that the model takes where nothing else is said.
    ///
    /// - Throws: ``VerificationError`` if the model takes something else.
    package func lightnessShape() throws -> Shape {
        guard case .package(let package) = source else { return [1, 1, 256, 256] }
        let shapes = package.program.inputs.map { package.defaultShape(of: $0) }
        guard shapes.count == 1, let shape = shapes[0], shape.rank == 4, shape[1] == 1 else {
            throw VerificationError(
                .mismatch, path: path,
                "is no colorizer and cannot be run on lightness; give a reference file")
        }
        return shape
    }

    /// How many pictures the model takes at a time; nil if any number.
    var batchSize: Int? {
        guard case .package(let package) = source else { return 1 }
        return package.program.inputs.first?.type.dimensions.first ?? nil
    }

    /// Runs `body`; what goes wrong in it is the model's fault.
    func tellingModel<Result>(_ body: () throws -> Result) throws -> Result {
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

extension VerifiedModel {
    /// Runs the model once.
    ///
    /// - Parameter inputs: see ``prepare(for:compute:)``.
    /// - Returns: the outputs in the model's order.
    /// - Throws: ``VerificationError`` if the inputs are not the model's, or it cannot be
    ///   run on them.
    package func run(
        _ inputs: [NamedTensor], compute: ComputePrecision = .float32
    ) throws -> [NamedTensor] {
        let batches = inputs.batches(of: batchSize)
        let model = try prepare(for: batches[0], compute: compute)
        return try joined(
            batches.map { batch in
                var run = try model.start(batch)
                return model.named(try run.finish())
            })
    }

    /// Compiles the model for inputs of these shapes.
    ///
    /// - Parameter inputs: matched by name, or by order where there is but one. Lightness is
    ///   0…100 even for a model that takes a picture: it is scaled, and not rounded to the
    ///   picture's levels, so that what is compared is the model.
    /// - Throws: ``VerificationError`` if the inputs are not the model's, or it cannot be
    ///   run on them.
    package func prepare(
        for inputs: [NamedTensor], compute: ComputePrecision = .float32
    ) throws -> PreparedModel {
        try tellingModel {
            switch source {
            case .package(let package): try prepare(package, inputs, compute)
            case .checkpoint(let checkpoint, let network):
                try prepare(checkpoint, network, inputs, compute)
            }
        }
    }

    private func prepare(
        _ checkpoint: Checkpoint, _ network: any ColorizerNetwork, _ inputs: [NamedTensor],
        _ compute: ComputePrecision
    ) throws -> PreparedModel {
        let values = try matchInputs(inputs, to: ["input"], of: path)
        let graph = Graph(mode: .inference)
        let ab = network(graph.input("input", values["input"]?.shape ?? .scalar))
        try graph.validate()
        var options = CompileOptions()
        options.roundsToHalf = compute == .float16
        return try PreparedModel(
            self, isPackage: false, inputs: ["input"], outputs: [("ab", ab)],
            values: graph.tracedValues(for: [ab]), variables: checkpoint.variables,
            options: options)
    }

    private func prepare(
        _ package: MLPackage, _ inputs: [NamedTensor], _ compute: ComputePrecision
    ) throws -> PreparedModel {
        let names = package.program.inputs.map(\.name)
        let values = try matchInputs(inputs, to: names, of: path)
        let raised = try RaisedPackage(
            package, inputShapes: values.mapValues(\.shape), rounding: compute.rounding)
        return try PreparedModel(
            self, isPackage: true, inputs: names, outputs: raised.model.outputs,
            values: raised.model.tracedValues, variables: raised.model.variables,
            scale: raised.interface?.lightnessScale ?? 1)
    }
}

/// Finds for each of a model's inputs its value: by name, or by order where there is but one.
///
/// - Throws: ``VerificationError`` if names are missing or left over.
func matchInputs(
    _ inputs: [NamedTensor], to names: [String], of path: String
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

extension ComputePrecision {
    fileprivate var rounding: HalfRounding {
        switch self {
        case .float32: .none
        case .float16: .every
        case .mixed: .declared
        }
    }
}

extension RaisedModel {
    /// What the program computes of what its outputs need; a tensor counts once.
    fileprivate var tracedValues: [TracedValue] {
        let live = Set(graph.computed(for: outputs.map(\.value)))
        var places: [Int: Int] = [:]
        var traced: [TracedValue] = []
        for result in results where live.contains(result.value.id) {
            guard places[result.value.id] == nil else { continue }
            places[result.value.id] = traced.count
            let value = ComputedValue(
                name: result.name, operation: result.operation, module: "",
                shape: result.value.shape,
                inputs: result.inputs.compactMap { places[$0.id] })
            traced.append(TracedValue(description: value, tensor: result.value))
        }
        return traced
    }
}

extension MLPackage {
    /// The shape of an input where nobody asks for another; nil if the package does not say.
    fileprivate func defaultShape(of input: MILNamedType) -> Shape? {
        if let fixed = input.type.shape { return Shape(fixed) }
        let feature = description.inputs.first { $0.name == input.name }
        return (feature?.type.defaultShape).map { Shape($0) }
    }

    fileprivate var computePrecision: ComputePrecision {
        let types = program.operations.filter {
            !$0.isConstant && !$0.isConstantExpression && !["cast", "identity"].contains($0.type)
        }.flatMap(\.outputs).map(\.type.dataType)
        guard types.contains(.float16) else { return .float32 }
        return types.contains(.float32) ? .mixed : .float16
    }
}

extension ModelPrecision {
    /// The coarsest that a package holds anywhere.
    package init(of package: MLPackage) {
        let operations = package.program.operations
        if operations.contains(where: \.isConstantExpression) {
            self = .quantized
        } else {
            self =
                operations.contains { operation in
                    operation.outputs.contains { $0.type.dataType == .float16 }
                } ? .float16 : .float32
        }
    }
}
