import Glibc

/// A share of trials that passed, with its exact confidence interval.
public struct BinomialShare: Hashable, Sendable, Codable {
    /// The number of trials that passed.
    public let passed: Int
    /// The number of trials.
    public let count: Int

    /// - Precondition: `passed` is in 0…`count`.
    public init(passed: Int, of count: Int) {
        precondition((0...count).contains(passed))
        (self.passed, self.count) = (passed, count)
    }

    /// The share, 0…1; NaN without trials.
    public var share: Double { Double(passed) / Double(count) }

    /// The interval of Clopper and Pearson (1934), 0…1: at its ends, a share as low or as high as
    /// the one seen has a probability of (1 − `confidence`) / 2.
    ///
    /// - Precondition: `confidence` is above 0 and below 1.
    public func interval(confidence: Double = 0.95) -> ClosedRange<Double> {
        precondition(confidence > 0 && confidence < 1)
        let tail = (1 - confidence) / 2
        let low = passed == 0 ? 0 : solution { 1 - atMost(passed - 1, $0) - tail }
        let high = passed == count ? 1 : solution { tail - atMost(passed, $0) }
        return low...high
    }

    /// Where a rising function of 0…1 is 0, by bisection.
    private func solution(_ function: (Double) -> Double) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if function(middle) < 0 { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// The probability of at most `most` passes at a share.
    private func atMost(_ most: Int, _ share: Double) -> Double {
        (0...most).reduce(0) { sum, passes in
            let ways =
                lgamma(Double(count + 1)) - lgamma(Double(passes + 1))
                - lgamma(Double(count - passes + 1))
            let logarithm =
                ways + Double(passes) * log(share) + Double(count - passes) * log1p(-share)
            return sum + exp(logarithm)
        }
    }
}
