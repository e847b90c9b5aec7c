import Models
import TensorGraph

/// One output compared.
public struct OutputComparison: Hashable, Sendable {
    public let name: String
    public let shape: [Int]
    public let metrics: ErrorMetrics
    /// What PSNR is relative to: 220 for ab, else the span of the expected numbers.
    public let peak: Double
    public let nonFinite: NonFinite?
    /// The bounds that are not held, in words; empty if the output passes.
    public let failures: [String]
}

/// Compares an output run by run.
struct OutputGathering {
    let name: String
    private let tolerance: Tolerance
    private let peak: Double?
    private var shape: Shape
    private let runs: Int
    private var errors: ErrorGathering
    private var violations = 0
    private var nonFinite: NonFinite?
    private var least = Float.infinity
    private var greatest = -Float.infinity

    /// - Parameters:
    ///   - pair: the output of the first run, to be added like all others.
    ///   - peak: what PSNR is relative to; the span of the expected numbers if nil.
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
        least = min(least, expected.min() ?? least)
        greatest = max(greatest, expected.max() ?? greatest)
        guard let found = NonFinite(in: pair.computed) else { return }
        if nonFinite == nil { nonFinite = found } else { nonFinite?.add(found) }
    }

    var comparison: OutputComparison {
        let span = Double(greatest) - Double(least)
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
            failures.append("\(violations) numbers are farther off than they may be")
        }
        if let bound = tolerance.meanAbs, !(metrics.meanAbs <= bound) {
            failures.append("the mean |error| \(metrics.meanAbs) is above \(bound)")
        }
        if let bound = tolerance.minPSNR, !(metrics.psnr >= bound) {
            failures.append("the PSNR \(metrics.psnr) dB is below \(bound) dB")
        }
        if let bound = tolerance.minSNR, !(metrics.snr >= bound) {
            failures.append("the SNR \(metrics.snr) dB is below \(bound) dB")
        }
        return failures
    }
}
