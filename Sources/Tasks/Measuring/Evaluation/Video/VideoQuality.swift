import RetintColor
import RetintImages
import RetintVideo

extension VideoReport {
    /// How well the frames of videos are colored, and how steadily.
    public struct Quality: Hashable, Sendable, Codable {
        /// Mean CIEDE2000 color difference from the original.
        public internal(set) var deltaE2000: Double
        /// Mean Euclidean distance from the original in the ab plane.
        public internal(set) var abError: Double
        /// Hasler–Süsstrunk colorfulness, 0 for gray.
        public internal(set) var colorfulness: Double
        /// The mean distance in the ab plane between a pixel and the place in the previous frame
        /// that it comes from (Lai et al. 2018, for a and b); nil for videos of a single frame.
        public internal(set) var warpError: Double?
        /// Color distribution consistency (Liu et al. 2021): the Jensen–Shannon divergence of the
        /// levels of red, green and blue between frames that are 1, 2 and 4 apart; nil for videos
        /// with fewer than five frames.
        public internal(set) var cdc: Double?
    }
}

/// Collects the quality of colors on videos.
package struct VideoMeasure {
    private var differences = Average()
    private var errors = ABErrors()
    private var colorfulness = Average()
    private var warp = WarpError()
    private var divergences = [Average](repeating: Average(), count: Self.distances.count)
    /// The distributions of the last frames, the newest first.
    private var distributions: [ColorDistribution] = []
    private var earlier: (a: [Float], b: [Float])?

    /// How many frames apart distributions are compared.
    private static let distances = [1, 2, 4]

    /// Begins another video or another scene.
    package mutating func beginScene() {
        distributions = []
        earlier = nil
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - a: the channel a of the colored frame.
    ///   - b: the channel b of the colored frame.
    ///   - original: the frame in its own colors.
    ///   - motion: the motion back to the previous frame; nil for the first frame of a scene.
    package mutating func add(
        a: [Float], b: [Float], original: LabPlanes, motion: MotionField?
    ) throws {
        // As displayed: within sRGB.
        let pixels = LabPlanes(l: original.l, a: a, b: b).rgb()
        try compare(lab(fromRGB: pixels), with: original)
        colorfulness.add(try RetintColor.colorfulness(ofRGB: pixels))
        // Not rounded to 8 bits: the rounding steps would be as large as the measured differences.
        if let earlier, let motion { warp.add((a, b), after: earlier, along: motion) }
        earlier = (a, b)
        let distribution = ColorDistribution(ofRGB: pixels)
        for (index, distance) in Self.distances.enumerated() where distance <= distributions.count {
            divergences[index].add(distribution.divergence(from: distributions[distance - 1]))
        }
        distributions.insert(distribution, at: 0)
        if distributions.count > Self.distances.max()! { distributions.removeLast() }
    }

    private mutating func compare(_ colored: LabPlanes, with original: LabPlanes) throws {
        try errors.add(reference: original, estimate: colored)
        // The video's own colors need not be computed pixel by pixel.
        let isEqual = colored == original
        differences.add(isEqual ? 0 : try meanDeltaE2000(original, colored))
    }

    /// The quality over all frames; nil before any.
    package var quality: VideoReport.Quality? {
        guard let difference = differences.value, let color = colorfulness.value else { return nil }
        let consistencies = divergences.compactMap(\.value)
        return VideoReport.Quality(
            deltaE2000: difference, abError: errors.mean, colorfulness: color,
            warpError: warp.mean.isNaN ? nil : warp.mean,
            cdc: consistencies.count < divergences.count
                ? nil : consistencies.reduce(0, +) / Double(consistencies.count))
    }
}

private struct Average {
    private var sum = 0.0
    private var count = 0

    var value: Double? { count > 0 ? sum / Double(count) : nil }

    mutating func add(_ value: Double) { (sum, count) = (sum + value, count + 1) }
}
