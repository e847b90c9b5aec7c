import Glibc
import RetintColor
import RetintImages
import RetintLayers
import RetintTensors

/// A change of a photo's illumination or white balance: input and target change together.
struct Illumination: Hashable, Sendable {
    /// Factors of linear red, green and blue.
    private let gains: SIMD3<Double>
    /// Whether the mean color is first made gray.
    private let isGrayWorld: Bool

    /// The limit for the change of a channel by the gray-world assumption: a photo of a red wall
    /// should not become one of a gray wall.
    private static let grayWorldBounds = 0.5...2.0
    /// The shares of red, green and blue light in luminance.
    private static let luminance = SIMD3(0.212671, 0.715160, 0.072169)

    init(_ settings: TrainingConfiguration.DataSettings, _ random: inout RandomStream) {
        func symmetric() -> Double { 2 * random.uniform() - 1 }
        let exposure = exp2(settings.exposure * symmetric())
        let balance = (0..<3).map { _ in pow(1 + settings.whiteBalance, symmetric()) }
        let relative = SIMD3(balance[0], balance[1], balance[2])
        // White keeps its luminance, so that only the exposure changes lightness.
        let isChanged = settings.exposure > 0 || settings.whiteBalance > 0
        let scale = isChanged ? exposure / (relative * Self.luminance).sum() : 1
        gains = relative * scale
        isGrayWorld = random.uniform() < settings.grayWorld
    }

    /// No change.
    init() { (gains, isGrayWorld) = (SIMD3(repeating: 1), false) }

    func apply(to image: Image) -> Image {
        var factors = gains
        if isGrayWorld { factors *= Self.grayWorldGains(of: image) }
        guard factors != SIMD3(repeating: 1) else { return image }
        return Image(
            width: image.width, height: image.height, pixels: lit(image.pixels, gains: factors))
    }

    /// What each level of red, green and blue becomes, 3 × 256; nil if that depends on the image.
    var levels: [UInt8]? {
        if isGrayWorld { return nil }
        let isSame = gains == SIMD3(repeating: 1)
        return isSame ? CropWindow.unchangedLevels : litLevels(gains: gains)
    }

    private static func grayWorldGains(of image: Image) -> SIMD3<Double> {
        let means = meanLight(of: image.pixels)
        let gray = (means * luminance).sum()
        guard means.min() > 0 else { return SIMD3(repeating: 1) }
        let (low, high) = (grayWorldBounds.lowerBound, grayWorldBounds.upperBound)
        return (gray / means).clamped(
            lowerBound: SIMD3(repeating: low), upperBound: SIMD3(repeating: high))
    }
}
