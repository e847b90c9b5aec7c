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
    /// How far that is from the colorfulness of the original, above or below.
    package var colorfulnessDifference = 0.0
    /// Structural similarity; nil where no picture has 7 × 7 pixels.
    package var ssim: Double?
    /// Mean Euclidean distance in the ab plane.
    package var abError = 0.0
    /// The area under the curve of the share of pixels within an ab error of 0…150; 1 is perfect.
    package var abAuc = 0.0
    /// The same with every color counting alike, over the pixels of all pictures together.
    package var abAucRebalanced = 0.0

    package static let highestPSNR = 100.0

    /// All that are means over pictures, ``ssim`` apart.
    static var means: [WritableKeyPath<ColorQuality, Double>] {
        [\.psnrDb, \.deltaE2000, \.colorfulness, \.colorfulnessDifference, \.abError, \.abAuc]
    }
}

/// The quality of one picture, and what it adds to that of many.
package struct PictureQuality: Sendable {
    package let quality: ColorQuality
    let balance: BalancedABErrors

    /// Compares a picture with the original.
    ///
    /// - Throws: `ColorScienceError` if their sizes differ.
    package init(_ picture: Image, original: Image) throws {
        let (estimate, reference) = (lab(fromRGB: picture.pixels), lab(fromRGB: original.pixels))
        var (errors, balance) = (ABErrors(), BalancedABErrors())
        try errors.add(reference: reference, estimate: estimate)
        try balance.add(reference: reference, estimate: estimate)
        var quality = ColorQuality()
        quality.psnrDb = min(
            try psnr(picture.pixels, original.pixels), ColorQuality.highestPSNR)
        quality.deltaE2000 = try meanDeltaE2000(reference, estimate)
        quality.colorfulness = try ColorScience.colorfulness(ofRGB: picture.pixels)
        quality.colorfulnessDifference = abs(
            quality.colorfulness - (try ColorScience.colorfulness(ofRGB: original.pixels)))
        quality.abError = errors.mean
        quality.abAuc = errors.areaUnderCurve
        quality.abAucRebalanced = balance.areaUnderCurve
        if min(picture.width, picture.height) >= 7 {
            quality.ssim = try structuralSimilarity(
                picture.pixels, original.pixels, width: picture.width, height: picture.height)
        }
        (self.quality, self.balance) = (quality, balance)
    }
}

extension ColorQuality {
    /// The quality of pictures together; nil if there are none.
    package init?(_ pictures: [PictureQuality]) {
        guard !pictures.isEmpty else { return nil }
        self.init()
        for path in Self.means {
            let sum = pictures.reduce(0) { $0 + $1.quality[keyPath: path] }
            self[keyPath: path] = sum / Double(pictures.count)
        }
        let similarities = pictures.compactMap(\.quality.ssim)
        if !similarities.isEmpty {
            ssim = similarities.reduce(0, +) / Double(similarities.count)
        }
        var balance = BalancedABErrors()
        for picture in pictures { balance.add(picture.balance) }
        abAucRebalanced = balance.areaUnderCurve
    }
}
