import RetintColor

/// The frequency of each ab bin, and the weights that rebalance rare ones (Zhang et al., "Colorful
/// Image Colorization", 2016, section 2.2).
struct ColorPrior: Hashable, Sendable {
    /// The share of each bin, soft-encoded like the targets; the sum is 1.
    let shares: [Float]

    /// - Parameter colors: a and b of pixels.
    init(_ colors: some Sequence<(a: Float, b: Float)>, bins: ABBins) {
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
    /// - Parameter lambda: λ; 1 gives all bins the same weight.
    func weights(lambda: Double) -> [Float] {
        let uniform = 1 / Double(shares.count)
        let raw = shares.map { 1 / ((1 - lambda) * Double($0) + lambda * uniform) }
        let mean = zip(shares, raw).reduce(0) { $0 + Double($1.0) * $1.1 }
        return raw.map { Float($0 / mean) }
    }
}
