import RetintGraph
import RetintRuntime

/// The outputs of a model, computed once and compared with those of many others.
///
/// The others must take their inputs in the same format.
final class RecordedOutputs: ExpectedValues {
    let source: String
    let isColorizer: Bool
    private let recorded: [[NamedTensor]]
    private var index = 0

    /// - Parameters:
    ///   - other: the model to run, in float32.
    ///   - model: one of the models that are compared with it.
    init(_ other: Model, for model: Model, on inputs: VerificationInputs) throws {
        (source, isColorizer) = (other.name, try verifying { try other.interface.isColorizer })
        let first = try inputs.input(0)
        let (program, own) = try verifying {
            (
                try model.program(on: first.tensors, observes: false),
                try other.program(on: first.tensors)
            )
        }
        recorded = try (0..<inputs.count).map { index in
            let input = index == 0 ? first : try inputs.input(index)
            var run = try verifying { try own.start(program.roundTripped(input.tensors)) }
            return try own.named(run.finish()).checked(in: other.name)
        }
    }

    var isSameNetwork: Bool { true }

    func prepare(first: VerificationInputs.Input, runs: Int) {}

    func match(_ program: ModelProgram, on inputs: VerificationInputs) {}

    func begin(_ inputs: [NamedTensor], at index: Int) { self.index = index }

    func counterpart(of index: Int) -> Counterpart? { nil }

    func scalars(for index: Int) -> ExpectedScalars? { nil }

    func outputs() -> [NamedTensor] { recorded[index] }
}

extension [NamedTensor] {
    /// The outputs of a reference model.
    ///
    /// - Throws: ``VerificationError`` if a value is NaN or infinite.
    func checked(in model: String) throws -> [NamedTensor] {
        for output in self {
            guard let found = NonFinite(in: output.data) else { continue }
            throw VerificationError(
                .badReference, path: model, place: "output \(output.name)",
                "\(found.text); the reference model must compute finite values")
        }
        return self
    }
}
