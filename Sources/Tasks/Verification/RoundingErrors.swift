import Foundation
import RetintGraph
import RetintRuntime

/// What float32 itself loses: the errors of a model's run in float32 against the same graph in
/// float64.
struct RoundingErrors {
    /// The errors of the outputs by name.
    let outputs: [String: VerificationReport.ErrorMetrics]
    /// The SNR of each of the model's values in dB, by its index.
    let layers: [Double]

    /// Runs a model on the first of another model's inputs.
    ///
    /// - Throws: ``VerificationError`` if a value is NaN or infinite, or the model cannot be run.
    init(of other: Model, for model: Model, on inputs: VerificationInputs) throws {
        let first = VerificationInputs(count: 1) { _ in try inputs.input(0) }
        let report = try VerificationRun(
            other, against: Float64Values(other), on: first.roundTripped(for: model),
            VerificationOptions(compute: .float32, tolerance: Tolerance())
        ).report()
        outputs = Dictionary(report.outputs.map { ($0.name, $0.metrics) }) { first, _ in first }
        layers = report.layers.map { $0.error?.snr ?? .nan }
    }
}

/// The SNR, in dB, of values that were computed exactly and then rounded to float32. No error can
/// be asked to be smaller.
private let roundedSNR = 20 * log10(0x1p24)

/// An error as a multiple of what float32 itself loses.
///
/// - Parameters:
///   - snr: the SNR of the error, in dB.
///   - rounding: that of the expected values' own run in float32.
/// - Returns: the quotient of the root mean square errors; NaN if an SNR is.
func roundingRatio(_ snr: Double, to rounding: Double) -> Double {
    if snr == .infinity, !rounding.isNaN { return 0 }
    return pow(10, (Swift.min(rounding, roundedSNR) - snr) / 20)
}
