import Glibc

/// How far the chroma and the hue of an image are from the true ones, apart from each other (CIE
/// 15): a color may be too pale, or it may be another color.
///
/// Chroma is C = √(a² + b²). What remains of the distance in the ab plane, once the difference of
/// chroma is taken out, is the difference of hue: ΔH = √(Δa² + Δb² − ΔC²).
package struct ChromaHueErrors: Hashable, Sendable {
    /// The mean of |ΔC|.
    package let chroma: Double
    /// The mean of ΔC, estimate minus truth: negative for colors that are too pale.
    package let chromaBias: Double
    /// The mean of ΔH, which is never negative.
    package let hue: Double

    /// Compares an image with the true one.
    ///
    /// - Throws: `ColorScienceError` when the images differ in size or are empty.
    package init(reference: LabPlanes, estimate: LabPlanes) throws {
        try ColorScienceError.requireSameCount("chroma error", reference.count, estimate.count)
        var (absolute, signed, hue) = (0.0, 0.0, 0.0)
        for index in reference.indices {
            let pair = ABPair(reference[index], estimate[index])
            let difference = pair.estimatedChroma - pair.trueChroma
            absolute += abs(difference)
            signed += difference
            hue += pair.hueDifference
        }
        let count = Double(reference.count)
        (chroma, chromaBias, self.hue) = (absolute / count, signed / count, hue / count)
    }
}

/// A pixel's true color and the estimate, in the ab plane.
struct ABPair {
    private let truth, estimate: SIMD2<Double>
    let trueChroma, estimatedChroma: Double

    init(_ truth: SIMD4<Double>, _ estimate: SIMD4<Double>) {
        (self.truth, self.estimate) = (SIMD2(truth.y, truth.z), SIMD2(estimate.y, estimate.z))
        (trueChroma, estimatedChroma) = (
            abLength(truth.y, truth.z), abLength(estimate.y, estimate.z)
        )
    }

    /// The Euclidean distance.
    var distance: Double { abLength(truth.x - estimate.x, truth.y - estimate.y) }

    private var dot: Double { (truth * estimate).sum() }

    /// ΔH: Δa² + Δb² − ΔC² is 2·(C₁·C₂ − a₁·a₂ − b₁·b₂), which loses fewer digits.
    var hueDifference: Double {
        max(2 * (trueChroma * estimatedChroma - dot), 0).squareRoot()
    }

    /// The angle between the hues, 0…180 degrees.
    var hueAngle: Double {
        let cross = truth.x * estimate.y - truth.y * estimate.x
        return abs(atan2(cross, dot)) * 180 / .pi
    }
}
