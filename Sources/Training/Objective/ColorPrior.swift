import ColorScience

/// How often each ab bin occurs, and what that makes rare ones count (Zhang et al., "Colorful Image
/// Colorization", 2016, section 2.2).
package struct ColorPrior: Hashable, Sendable {
    /// The share of each bin, softly coded as the targets are; they sum to 1.
    package let shares: [Float]

    /// - Parameter colors: a and b of pixels.
    package init(_ colors: some Sequence<(a: Float, b: Float)>, bins: ABBins) {
        var sums = [Double](repeating: 0, count: bins.count)
        var count = 0.0
        for color in colors {
            let code = bins.softCode(a: color.a, b: color.b)
            for (bin, weight) in zip(code.bins, code.weights) { sums[bin] += Double(weight) }
            count += 1
        }
        shares = sums.map { Float($0 / max(count, 1)) }
    }

    /// A factor for each bin: w ∝ 1/((1 − λ)·p + λ/Q), scaled so that Σ p·w = 1.
    ///
    /// - Parameter lambda: λ; 1 weighs all alike.
    package func weights(lambda: Double) -> [Float] {
        let even = 1 / Double(shares.count)
        let raw = shares.map { 1 / ((1 - lambda) * Double($0) + lambda * even) }
        let mean = zip(shares, raw).reduce(0) { $0 + Double($1.0) * $1.1 }
        return raw.map { Float($0 / mean) }
    }
}
