public import RetintAppleRuntime
public import RetintExport
public import RetintFiles
import RetintGraph
import RetintRuntime
public import RetintTensors

/// An `.aimodel` that Apple's Core AI runtime opens and runs; retint itself does not read it.
public struct AppleModel: Sendable {
    /// The path of the folder.
    public let path: String
    /// The precision of the weights.
    public let precision: ModelPrecision
    /// The arithmetic that the model declares.
    public let compute: ComputePrecision
    /// What goes in, as far as the runtime says so; what comes out shows when the model runs.
    public let interface: ModelInterface
    private let runtime: AppleRuntime

    /// Opens a model in the runtime, and reads its description.
    ///
    /// - Parameters:
    ///   - path: the folder `NAME.aimodel`.
    ///   - runtime: the runtime.
    /// - Throws: `AppleRuntimeError` if there is no runtime, or it does not open the model.
    public init(contentsOf path: some PathConvertible, runtime: AppleRuntime) async throws {
        let results = try await runtime.run(path, on: [])
        self.path = path.filePath.string
        self.runtime = runtime
        // If the precision is unknown, the strictest bounds apply.
        precision = ModelPrecision(rawValue: results.precision) ?? .float32
        compute = ComputePrecision(rawValue: results.compute) ?? .float32
        interface = ModelInterface(
            inputs: results.inputs.map { .init(name: $0.name, shapes: .init($0.shape)) },
            outputs: [])
    }

    /// The shape of the lightness that the model takes, [N, 1, H, W]; for variable dimensions, one
    /// image of 256 × 256.
    ///
    /// - Throws: ``VerificationError`` if the model takes an input other than lightness.
    public func lightnessShape() throws(VerificationError) -> Shape {
        guard let input = interface.onlyChannel else {
            let shapes = interface.inputs.map { input in
                let extents = input.shapes.standard.map { $0.map(String.init) ?? "?" }
                return "\(input.name) [\(extents.joined(separator: ", "))]"
            }
            throw VerificationError(
                .mismatch, path: path,
                "takes \(shapes.joined(separator: ", ")); a colorizer takes one channel of "
                    + "lightness, and any other network needs a reference file")
        }
        let side = ModelInterface.usualSide
        let shape = zip(input.shapes.standard, [1, 1, side, side]).map { $0 ?? $1 }
        guard shape.allSatisfy((1...Shape.maximumExtent).contains) else {
            throw VerificationError(.badModel, path: path, "does not take images of shape \(shape)")
        }
        return Shape(shape)
    }

    /// Runs the model on several inputs.
    func run(_ inputs: [VerificationInputs.Input]) async throws -> [[NamedTensor]] {
        let runs = inputs.map { $0.tensors.map { (name: $0.name, data: $0.data) } }
        return try await runtime.run(path, on: runs).runs.map { outputs in
            outputs.map { NamedTensor($0.name, $0.data) }
        }
    }
}
