import Layers

/// Where the quality of all photos of the kind lies, as far as those at hand tell: between two values
/// for each measure, with a probability of 95 %.
package struct ConfidenceInterval: Hashable, Sendable {
    package let low: ColorQuality
    package let high: ColorQuality

    /// Draws pictures anew, with repetition, and takes the middle 95 % of what comes out (the
    /// percentile bootstrap, Efron 1979), less what draws are off on the mean: they lack colors that
    /// few pictures have. Always the same for the same pictures.
    ///
    /// - Returns: nil for fewer than two pictures.
    package init?(_ pictures: [PictureQuality], draws: Int = 1000) {
        guard pictures.count > 1, let quality = ColorQuality(pictures) else { return nil }
        var random = RandomStream(seed: 0, name: "confidence interval")
        let qualities = (0..<draws).compactMap { _ in
            ColorQuality(
                pictures.indices.map { _ in
                    pictures[Int(random.next() % UInt64(pictures.count))]
                })
        }
        low = Self.bound(qualities, 0.025, around: quality)
        high = Self.bound(qualities, 0.975, around: quality)
    }

    private static func bound(
        _ qualities: [ColorQuality], _ share: Double, around quality: ColorQuality
    ) -> ColorQuality {
        var bound = ColorQuality()
        for path in ColorQuality.means + [\.abAucRebalanced] {
            bound[keyPath: path] = percentile(
                qualities.map { $0[keyPath: path] }, share, around: quality[keyPath: path])
        }
        bound.ssim = quality.ssim.map {
            percentile(qualities.compactMap(\.ssim), share, around: $0)
        }
        return bound
    }

    /// Linear between neighbors; of values shifted such that `center` is their mean.
    private static func percentile(
        _ values: [Double], _ share: Double, around center: Double
    ) -> Double {
        let mean = values.reduce(0, +) / Double(values.count)
        let sorted = values.map { $0 - mean + center }.sorted()
        let place = share * Double(sorted.count - 1)
        let (below, above) = (Int(place), min(Int(place) + 1, sorted.count - 1))
        let fraction = place - Double(below)
        return sorted[below] * (1 - fraction) + sorted[above] * fraction
    }
}
