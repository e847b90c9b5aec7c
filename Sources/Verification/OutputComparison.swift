import Models
import TensorGraph

/// The comparison of one output over all runs.
public struct OutputComparison: Hashable, Sendable {
    /// The output's name in the reference.
    public let name: String
    /// The shape over all runs: the first dimension counts all images.
    public let shape: [Int]
    /// The error of the output's values.
    public let metrics: ErrorMetrics
    /// The peak of the PSNR: 220 for a and b, otherwise the range of the expected values.
    public let peak: Double
    /// The output's NaN and infinite values; nil if there are none.
    public let nonFinite: NonFinite?
    /// A sentence for each violated bound; empty if the output passes.
    public let failures: [String]
}

/// Accumulates the comparison of an output over all runs.
struct OutputGathering {
    let name: String
    private let tolerance: Tolerance
    private let peak: Double?
    private var shape: Shape
    private let runs: Int
    private var errors: ErrorGathering
    private var violations = 0
    private var nonFinite: NonFinite?
    private var minimum = Float.infinity
    private var maximum = -Float.infinity

    /// - Parameters:
    ///   - pair: the output of the first run, which still has to be added.
    ///   - peak: the peak of the PSNR; the range of the expected values if nil.
    init(_ pair: OutputPair, runs: Int, peak: Double?, tolerance: Tolerance) {
        name = pair.name
        shape = pair.expected.shape
        self.runs = runs
        self.peak = peak
        self.tolerance = tolerance
        errors = ErrorGathering(total: pair.expected.shape.count * runs)
    }

    mutating func add(_ pair: OutputPair) {
        let (computed, expected) = (pair.computed.scalars, pair.expected.scalars)
        errors.add(computed: computed, expected: expected)
        violations += tolerance.violations(computed: computed, expected: expected)
        minimum = min(minimum, expected.min() ?? minimum)
        maximum = max(maximum, expected.max() ?? maximum)
        guard let found = NonFinite(in: pair.computed) else { return }
        if nonFinite == nil { nonFinite = found } else { nonFinite?.add(found) }
    }

    var comparison: OutputComparison {
        let span = Double(maximum) - Double(minimum)
        let peak = peak ?? (span > 0 ? span : 1)
        let metrics = errors.metrics(peak: peak)
        var whole = shape
        if whole.rank > 0 { whole[0] *= runs }
        return OutputComparison(
            name: name, shape: whole.dimensions, metrics: metrics, peak: peak,
            nonFinite: nonFinite, failures: nonFinite.map { [$0.text] } ?? failures(metrics))
    }

    private func failures(_ metrics: ErrorMetrics) -> [String] {
        var failures: [String] = []
        if violations > 0 {
            let noun = violations == 1 ? "value is" : "values are"
            failures.append("\(violations) \(noun) farther off than the tolerance allows")
        }
        if let bound = tolerance.meanAbs, !(metrics.meanAbs <= bound) {
            failures.append(
                "the mean |error| \(figure(metrics.meanAbs, bound)) is above \(plain(bound))")
        }
        if let bound = tolerance.minPSNR, !(metrics.psnr >= bound) {
            failures.append(
                "the PSNR \(figure(metrics.psnr, bound)) dB is below \(plain(bound)) dB")
        }
        if let bound = tolerance.minSNR, !(metrics.snr >= bound) {
            failures.append("the SNR \(figure(metrics.snr, bound)) dB is below \(plain(bound)) dB")
        }
        return failures
    }
}
