import Models
import TensorGraph

/// The error that a network makes by itself when every result is rounded to half precision, of each
/// output by its name.
///
/// - Parameters:
///   - other: the network.
///   - model: the model whose inputs it gets.
///   - expected: its outputs in float32.
func halfPrecisionErrors(
    of other: Model, for model: Model, on inputs: VerificationInputs, expected: RecordedOutputs
) throws -> [String: ErrorMetrics] {
    let report = try VerificationRun(
        other, against: expected, on: try inputs.roundTripped(for: model),
        VerificationOptions(compute: .float16, tolerance: Tolerance()), observes: false
    ).report()
    let pairs = report.outputs.map { ($0.name, $0.metrics) }
    return Dictionary(pairs) { first, _ in first }
}

extension VerificationInputs {
    /// The inputs as a model sees them.
    func roundTripped(for model: Model) throws -> VerificationInputs {
        let program = try verifying { [first = try input(0)] in
            try model.program(on: first.tensors, observes: false)
        }
        return VerificationInputs(count: count) { index in
            let input = try self.input(index)
            return VerificationInput(
                labels: input.labels, tensors: program.roundTripped(input.tensors))
        }
    }
}
