import RetintGraph
import RetintRuntime

/// The error of a network when every result is rounded to half precision, for each
/// output by name.
///
/// - Parameters:
///   - other: the network.
///   - model: the model whose inputs are used.
///   - expected: its outputs in float32.
func halfPrecisionErrors(
    of other: Model, for model: Model, on inputs: VerificationInputs, expected: RecordedOutputs
) throws -> [String: VerificationReport.ErrorMetrics] {
    let report = try VerificationRun(
        other, against: expected, on: try inputs.roundTripped(for: model),
        VerificationOptions(compute: .float16, tolerance: Tolerance()), observes: false
    ).report()
    let pairs = report.outputs.map { ($0.name, $0.metrics) }
    return Dictionary(pairs) { first, _ in first }
}

extension VerificationInputs {
    /// The inputs in the format that a model takes.
    func roundTripped(for model: Model) throws -> VerificationInputs {
        let program = try verifying { [first = try input(0)] in
            try model.program(on: first.tensors, observes: false)
        }
        return VerificationInputs(count: count) { index in
            let input = try self.input(index)
            return VerificationInputs.Input(
                labels: input.labels, tensors: program.roundTripped(input.tensors))
        }
    }
}
