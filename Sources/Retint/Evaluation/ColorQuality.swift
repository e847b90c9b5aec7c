/// The quality of a colored image compared with the original, or its mean over images.
public struct ColorQuality: Hashable, Sendable, Codable {
    /// Peak signal-to-noise ratio of the RGB images in dB, peak 255. A larger value than
    /// ``highestPSNR`` counts as ``highestPSNR``: one gray photo, reproduced exactly, would make
    /// the mean infinite.
    public internal(set) var psnrDb = 0.0
    /// Mean CIEDE2000 color difference.
    public internal(set) var deltaE2000 = 0.0
    /// Hasler–Süsstrunk colorfulness of the colored image, 0 for gray.
    public internal(set) var colorfulness = 0.0
    /// The absolute difference from the colorfulness of the original.
    public internal(set) var colorfulnessDifference = 0.0
    /// Structural similarity of the RGB images; nil if no image has 7 × 7 pixels.
    public internal(set) var ssim: Double?
    /// Mean Euclidean distance in the ab plane.
    public internal(set) var abError = 0.0
    /// The area under the curve of the share of pixels within an ab error of 0…150; 1 is perfect.
    public internal(set) var abAuc = 0.0
    /// The same with all colors weighted equally, however rare; over the pixels of all images
    /// together.
    public internal(set) var abAucRebalanced = 0.0

    /// Mean ab error near strong edges between colors, see `ABEdgeErrors`; nil unless images are
    /// compared at their own size.
    public internal(set) var abErrorAtEdges: Double?
    /// Mean ab error of all other pixels; nil unless images are compared at their own size.
    public internal(set) var abErrorElsewhere: Double?

    /// The PSNR in dB of an image that equals the original.
    public static let highestPSNR = 100.0

    init() {}

    /// The measures that are means over those images that have them.
    static var optionalMeans: [WritableKeyPath<ColorQuality, Double?>] {
        [\.ssim, \.abErrorAtEdges, \.abErrorElsewhere]
    }

    /// The measures that are means over all images.
    static var means: [WritableKeyPath<ColorQuality, Double>] {
        [\.psnrDb, \.deltaE2000, \.colorfulness, \.colorfulnessDifference, \.abError, \.abAuc]
    }
}
