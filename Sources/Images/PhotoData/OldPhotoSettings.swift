/// The damage of old photos, each kind with its probability and its strength.
///
/// Lengths are in pixels of a photo whose shorter side has 256 pixels, and scale with the photo. By
/// default, photos are not damaged.
public struct OldPhotoSettings: Hashable, Sendable {
    /// A kind of damage.
    public enum Damage: String, CaseIterable, Hashable, Sendable {
        /// The photo was toned brown; its lightness is that of the toned colors.
        case sepia
        /// Contrast is lost, and blacks are lifted.
        case fading
        /// A Gaussian blur, as from a simple lens or a small print.
        case blur
        /// Noise, as from fast video.
        case grain
        /// Thin bright or dark lines, mostly from top to bottom.
        case scratches
        /// Bright or dark specks.
        case dust
        /// A scan that was compressed by JPEG.
        case jpeg
    }

    /// The probability of toning.
    public var sepia = 0.0
    /// The share of the toned colors in the mixture with the photo's own colors, 0…1.
    public var sepiaStrength = 1.0
    /// The probability of fading.
    public var fading = 0.0
    /// The largest share of the contrast that is lost, 0…0.9.
    public var fadingStrength = 0.5
    /// The probability of blur.
    public var blur = 0.0
    /// The largest standard deviation of the blur in pixels.
    public var blurDeviation = 1.5
    /// The probability of grain.
    public var grain = 0.0
    /// The largest standard deviation of the grain, in levels of 255.
    public var grainDeviation = 12.0
    /// The probability of scratches.
    public var scratches = 0.0
    /// The largest number of scratches.
    public var scratchCount = 5
    /// The probability of dust.
    public var dust = 0.0
    /// The largest number of specks.
    public var dustCount = 30
    /// The probability of compression.
    public var jpeg = 0.0
    /// The lowest quality of the compression, 1…100. The highest is 30 above it.
    public var jpegQuality = 20

    /// No damage.
    public init() {}

    /// Damage that every photo has, of the default strengths.
    public init(_ damage: some Sequence<Damage>) {
        for kind in damage { self[kind] = 1 }
    }

    /// The probability of a kind of damage.
    public subscript(damage: Damage) -> Double {
        get { self[keyPath: Self.probability(of: damage)] }
        set { self[keyPath: Self.probability(of: damage)] = newValue }
    }

    private static func probability(
        of damage: Damage
    ) -> WritableKeyPath<OldPhotoSettings, Double> {
        switch damage {
        case .sepia: \.sepia
        case .fading: \.fading
        case .blur: \.blur
        case .grain: \.grain
        case .scratches: \.scratches
        case .dust: \.dust
        case .jpeg: \.jpeg
        }
    }
}
