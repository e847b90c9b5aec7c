/// The errors of groups of pixels over any number of images: by true lightness, of the nearly gray,
/// and the hue of the colored.
///
/// All pixels of a group count equally, whichever image they are from.
package struct ABGroupErrors: Hashable, Sendable, Codable {
    /// Pixels whose true chroma √(a² + b²) is below this are nearly gray: a wall, asphalt, paper.
    /// Hues are compared where both chromas reach it.
    package static let nearGrayChroma = 5.0
    /// The ranges of L into which 0…100 is divided evenly.
    package static let lightnessRanges = 4

    private var byLightness = [Mean](repeating: Mean(), count: lightnessRanges)
    private var hueAngles = Mean()
    private var nearGrayChromas = Mean()
    private var nearGrayA = Mean()
    private var nearGrayB = Mean()
    private var pixels = 0

    /// Errors of no pixels.
    package init() {}

    /// Adds the pixels of an image.
    ///
    /// - Throws: `ColorScienceError` when the images differ in size or are empty.
    package mutating func add(reference: LabPlanes, estimate: LabPlanes) throws {
        try ColorScienceError.requireSameCount("ab error", reference.count, estimate.count)
        for index in reference.indices {
            let (truth, color) = (reference[index], estimate[index])
            let pair = ABPair(truth, color)
            byLightness[Self.range(ofLightness: truth.x)].add(pair.distance)
            if pair.trueChroma < Self.nearGrayChroma {
                nearGrayChromas.add(pair.estimatedChroma)
                nearGrayA.add(color.y)
                nearGrayB.add(color.z)
            } else if pair.estimatedChroma >= Self.nearGrayChroma {
                hueAngles.add(pair.hueAngle)
            }
        }
        pixels += reference.count
    }

    /// Adds the pixels of other images.
    package mutating func add(_ other: ABGroupErrors) {
        for range in byLightness.indices { byLightness[range].add(other.byLightness[range]) }
        hueAngles.add(other.hueAngles)
        nearGrayChromas.add(other.nearGrayChromas)
        nearGrayA.add(other.nearGrayA)
        nearGrayB.add(other.nearGrayB)
        pixels += other.pixels
    }

    private static func range(ofLightness lightness: Double) -> Int {
        let share = lightness / 100 * Double(lightnessRanges)
        return Int(min(max(share, 0), Double(lightnessRanges - 1)))
    }

    /// The mean distance in the ab plane of the pixels whose true L is in each quarter of 0…100;
    /// nil where there are none.
    package var errorsByLightness: [Double?] { byLightness.map(\.value) }

    /// The mean angle between the true and the estimated hue, 0…180 degrees, where both chromas
    /// are at least ``nearGrayChroma``; nil if there are none.
    package var hueAngle: Double? { hueAngles.value }

    /// The estimate's mean chroma, a and b where the truth is nearly gray; nil if there are none.
    package var nearGray: (chroma: Double, a: Double, b: Double)? {
        guard let chroma = nearGrayChromas.value, let a = nearGrayA.value, let b = nearGrayB.value
        else { return nil }
        return (chroma, a, b)
    }

    /// The share of pixels that are nearly gray in truth; NaN before any pixel.
    package var nearGrayShare: Double { Double(nearGrayChromas.count) / Double(pixels) }
}

/// A mean of values that are added one by one.
private struct Mean: Hashable, Codable {
    private(set) var count = 0
    private var sum = 0.0

    var value: Double? { count > 0 ? sum / Double(count) : nil }

    mutating func add(_ value: Double) { (count, sum) = (count + 1, sum + value) }

    mutating func add(_ other: Mean) { (count, sum) = (count + other.count, sum + other.sum) }
}
