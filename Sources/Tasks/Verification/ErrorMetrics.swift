import Glibc
import RetintRuntime

extension VerificationReport {
    /// The error of computed values c against expected values e.
    ///
    /// Sums are accumulated in double precision. All metrics are NaN if any value is NaN or
    /// infinite.
    public struct ErrorMetrics: Hashable, Sendable, Codable {
        /// The largest |c − e|.
        public private(set) var maxAbs = Double.nan
        /// The mean |c − e|.
        public private(set) var meanAbs = Double.nan
        /// The 99th percentile of |c − e|, linearly interpolated.
        public private(set) var percentile99 = Double.nan
        /// The largest |c − e| / |e| over the values with e ≠ 0.
        public private(set) var maxRelative = Double.nan
        /// 10 log₁₀(peak² / mean (c − e)²), in dB; infinite if all values are equal.
        public private(set) var psnr = Double.nan
        /// 10 log₁₀(Σ e² / Σ (c − e)²), in dB; infinite if all values are equal.
        public private(set) var snr = Double.nan
        /// The cosine similarity Σ c e / √(Σ c² Σ e²); 1 if c and e are all zeros, 0 if only one
        /// is.
        public private(set) var cosine = Double.nan

        /// Compares values.
        ///
        /// - Parameters:
        ///   - computed: the model's values.
        ///   - expected: the expected values, in the same order.
        ///   - peak: the peak of the PSNR: 220 for a and b.
        /// - Precondition: both have the same count, which is not 0.
        public init(computed: [Float], expected: [Float], peak: Double) {
            precondition(!expected.isEmpty)
            var errors = ErrorGathering(total: expected.count)
            errors.add(computed: computed, expected: expected)
            self = errors.metrics(peak: peak)
        }

        fileprivate init(_ errors: ErrorGathering, peak: Double) {
            guard errors.sums.isFinite else { return }
            maxAbs = errors.sums.maxAbs
            meanAbs = errors.sums.meanAbs
            percentile99 = errors.tail.percentile
            maxRelative = errors.maxRelative
            psnr = errors.sums.psnr(peak: peak)
            snr = errors.sums.snr
            cosine = errors.sums.cosine
        }
    }
}

extension VerificationReport.ErrorMetrics {
    /// The root mean square error divided by that of another comparison with the same expected
    /// values; 0 without an error.
    func rootMeanSquareRatio(to other: VerificationReport.ErrorMetrics) -> Double {
        if snr == .infinity, !other.snr.isNaN { return 0 }
        return pow(10, (other.snr - snr) / 20)
    }
}

extension VerificationReport.ErrorMetrics {
    /// The root mean square error as a multiple of what float32 loses; see
    /// ``roundingRatio(_:to:)``.
    func roundingRatio(to rounding: VerificationReport.ErrorMetrics) -> Double {
        RetintVerification.roundingRatio(snr, to: rounding.snr)
    }
}

/// Accumulates errors over batches; the metrics are those of all batches together.
struct ErrorGathering {
    private(set) var sums = ErrorSums()
    private(set) var frontier = ErrorFrontier()
    fileprivate var tail: UpperTail
    fileprivate var maxRelative = 0.0

    /// - Parameter total: the number of values in all batches.
    init(total: Int) {
        tail = UpperTail(total: total, share: 0.99)
    }

    /// - Precondition: both have the same count.
    mutating func add(computed: [Float], expected: [Float]) {
        sums.add(computed: computed, expected: expected)
        for (c, e) in zip(computed, expected) {
            let error = abs(Double(c) - Double(e))
            tail.add(Float(error))
            frontier.add(.init(expected: abs(Double(e)), error: error))
            if e != 0 { maxRelative = max(maxRelative, error / abs(Double(e))) }
        }
    }

    func metrics(peak: Double) -> VerificationReport.ErrorMetrics {
        VerificationReport.ErrorMetrics(self, peak: peak)
    }
}

/// Sums over pairs of values, from which most metrics follow.
struct ErrorSums: Hashable, Sendable {
    private(set) var count = 0
    private(set) var maxAbs = 0.0
    /// The largest |e|.
    private(set) var maxExpected = 0.0
    private var absolute = 0.0
    private var squares = 0.0
    private(set) var expectedSquares = 0.0
    private(set) var computedSquares = 0.0
    private(set) var products = 0.0
    private(set) var expectedSum = 0.0
    private(set) var computedSum = 0.0

    /// - Precondition: both have the same count.
    mutating func add(computed: [Float], expected: [Float]) {
        precondition(computed.count == expected.count)
        var next = self
        for index in computed.indices {
            let (c, e) = (Double(computed[index]), Double(expected[index]))
            let error = abs(c - e)
            next.maxAbs = max(next.maxAbs, error)
            next.maxExpected = max(next.maxExpected, abs(e))
            next.absolute += error
            next.squares += error * error
            next.expectedSquares += e * e
            next.computedSquares += c * c
            next.products += c * e
            next.expectedSum += e
            next.computedSum += c
        }
        next.count += computed.count
        self = next
    }

    /// Whether all values were finite: squares of floats do not overflow a double, and a NaN or an
    /// infinity remains in the sum.
    var isFinite: Bool { computedSquares.isFinite && expectedSquares.isFinite }

    var meanAbs: Double { absolute / Double(count) }

    func psnr(peak: Double) -> Double { decibels(peak * peak, squares / Double(count)) }

    var snr: Double { decibels(expectedSquares, squares) }

    var cosine: Double {
        guard computedSquares > 0, expectedSquares > 0 else {
            return computedSquares == expectedSquares ? 1 : 0
        }
        return products / (computedSquares.squareRoot() * expectedSquares.squareRoot())
    }

    /// The largest error relative to the largest expected magnitude; 0 if all values are equal.
    var relative: Double { maxAbs == 0 ? 0 : maxAbs / maxExpected }
}

/// Infinite without noise, even if the signal is zero.
private func decibels(_ signal: Double, _ noise: Double) -> Double {
    noise == 0 ? .infinity : 10 * log10(signal / noise)
}
