import ColorScience
import Foundation
import ImageIO

/// How near a colored picture is to the original; the mean over pictures.
package struct ColorQuality: Hashable, Sendable, Codable {
    /// Peak signal-to-noise ratio of the RGB pictures, peak 255. A picture above
    /// ``highestPSNR`` counts as that: one gray photo, reproduced exactly, would make the mean
    /// infinite.
    package var psnrDb = 0.0
    /// Mean CIEDE2000 difference.
    package var deltaE2000 = 0.0
    /// Hasler–Süsstrunk colorfulness of the colored picture, 0 for gray.
    package var colorfulness = 0.0
    /// Structural similarity; nil where no picture has 7 × 7 pixels.
    package var ssim: Double?
    /// Mean Euclidean distance in the ab plane.
    package var abError = 0.0
    /// The area under the curve of the share of pixels within an ab error of 0…150; 1 is perfect.
    package var abAuc = 0.0

    package static let highestPSNR = 100.0
}

/// Gathers the quality of pictures one after another.
package struct ColorQualityMeter {
    package private(set) var images = 0
    private var sum = ColorQuality()
    private var similarities = 0

    package init() {}

    /// Compares a picture with the original.
    ///
    /// - Throws: `ColorScienceError` if their sizes differ.
    package mutating func add(_ picture: Image, original: Image) throws {
        let (estimate, reference) = (lab(fromRGB: picture.pixels), lab(fromRGB: original.pixels))
        var errors = ABErrors()
        try errors.add(reference: reference, estimate: estimate)
        let ratio = try psnr(picture.pixels, original.pixels)
        sum.psnrDb += min(ratio, ColorQuality.highestPSNR)
        sum.deltaE2000 += try meanDeltaE2000(reference, estimate)
        sum.colorfulness += try ColorScience.colorfulness(ofRGB: picture.pixels)
        sum.abError += errors.mean
        sum.abAuc += errors.areaUnderCurve
        images += 1
        guard min(picture.width, picture.height) >= 7 else { return }
        let similarity = try structuralSimilarity(
            picture.pixels, original.pixels, width: picture.width, height: picture.height)
        sum.ssim = (sum.ssim ?? 0) + similarity
        similarities += 1
    }

    /// The means; nil before any picture.
    package var mean: ColorQuality? {
        guard images > 0 else { return nil }
        let count = Double(images)
        return ColorQuality(
            psnrDb: sum.psnrDb / count, deltaE2000: sum.deltaE2000 / count,
            colorfulness: sum.colorfulness / count,
            ssim: sum.ssim.map { $0 / Double(similarities) }, abError: sum.abError / count,
            abAuc: sum.abAuc / count)
    }
}
