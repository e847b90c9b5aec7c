public import RetintAppleRuntime
public import RetintExport
public import RetintFiles
import RetintGraph
import RetintRuntime
import RetintTensors

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

    /// The interface with what another model of the same inputs says about them, so that both get
    /// the same random values.
    ///
    /// - Throws: as `Model.interface`.
    public func interface(like other: Model) throws -> ModelInterface {
        let known = try verifying { try other.interface }
        var result = interface
        for index in result.inputs.indices {
            let named = known.inputs.first { $0.name == result.inputs[index].name }
            let only = known.inputs.count == 1 && result.inputs.count == 1 ? known.inputs[0] : nil
            guard let input = named ?? only else { continue }
            result.inputs[index].role = input.role
            result.inputs[index].elementType = input.elementType
            result.inputs[index].colorLayout = input.colorLayout
        }
        return result
    }

    /// Runs the model on several inputs.
    func run(_ inputs: [VerificationInputs.Input]) async throws -> [[NamedTensor]] {
        let runs = inputs.map { $0.tensors.map { (name: $0.name, data: $0.data) } }
        return try await runtime.run(path, on: runs).runs.map { outputs in
            outputs.map { NamedTensor($0.name, $0.data) }
        }
    }
}
