import Glibc

/// How far computed numbers are from those expected. All sums are in double precision.
package struct ErrorMetrics: Hashable, Sendable {
    /// The largest |c − e|, and the mean.
    package private(set) var maxAbs = 0.0
    package private(set) var meanAbs = 0.0
    /// The largest |c − e| / |e| where e is not 0.
    package private(set) var maxRelative = 0.0
    /// 10 log₁₀(peak² / mean (c − e)²); infinite for equal numbers.
    package private(set) var psnr = 0.0
    /// 10 log₁₀(Σ e² / Σ (c − e)²); infinite for equal numbers.
    package private(set) var snr = 0.0
    /// Σ c e / √(Σ c² Σ e²); 1 where both are all zeros, 0 where one is.
    package private(set) var cosine = 0.0

    /// - Parameter peak: the greatest difference there can be: 220 for ab.
    /// - Precondition: both have the same count, above 0. All are NaN if any number is.
    package init(computed: [Float], expected: [Float], peak: Double) {
        precondition(computed.count == expected.count && !expected.isEmpty)
        guard computed.allSatisfy(\.isFinite), expected.allSatisfy(\.isFinite) else {
            (maxAbs, meanAbs, maxRelative) = (.nan, .nan, .nan)
            (psnr, snr, cosine) = (.nan, .nan, .nan)
            return
        }
        var sums = Sums()
        for (c, e) in zip(computed, expected) {
            let (c, e) = (Double(c), Double(e))
            let error = abs(c - e)
            sums.add(c, e)
            maxAbs = max(maxAbs, error)
            if e != 0 { maxRelative = max(maxRelative, error / abs(e)) }
        }
        let count = Double(expected.count)
        meanAbs = sums.absolute / count
        psnr = decibels(peak * peak, sums.squares / count)
        snr = decibels(sums.expected, sums.squares)
        cosine = sums.cosine
    }
}

/// Equal numbers are infinitely far above their noise, even where all are zero.
private func decibels(_ signal: Double, _ noise: Double) -> Double {
    noise == 0 ? .infinity : 10 * log10(signal / noise)
}

private struct Sums {
    var absolute = 0.0
    var squares = 0.0
    var expected = 0.0
    private var computed = 0.0
    private var products = 0.0

    mutating func add(_ c: Double, _ e: Double) {
        absolute += abs(c - e)
        squares += (c - e) * (c - e)
        computed += c * c
        expected += e * e
        products += c * e
    }

    var cosine: Double {
        guard computed > 0, expected > 0 else { return computed == expected ? 1 : 0 }
        return products / (computed.squareRoot() * expected.squareRoot())
    }
}
