import RetintArchitectures
import RetintImages
import RetintLayers
import RetintTensors

/// A random crop of a photo, which becomes one example.
struct Augmentation: Hashable, Sendable {
    /// The crop's side as a share of the photo's short side.
    let scale: Double
    /// Its position, 0…1 from one edge to the other.
    let x, y: Double
    let isMirrored: Bool
    /// The change of L.
    let tone: Tone
    /// The shape; nil: a square of ``scale``.
    private let shape: CropShape?
    /// The change of light.
    private let illumination: Illumination

    /// Depends only on the seed, the epoch and the index, on any machine.
    init(seed: UInt64, epoch: Int, index: Int, settings: TrainingConfiguration.DataSettings) {
        var random = RandomStream(seed: seed, name: "crop \(epoch) \(index)")
        let range = 1 - settings.minimumScale
        scale = settings.minimumScale + range * random.uniform()
        x = random.uniform()
        y = random.uniform()
        isMirrored = settings.flip && random.uniform() < 0.5
        tone = Tone(
            shift: 100 * settings.lightness * (2 * random.uniform() - 1),
            contrast: 1 + settings.contrast * (2 * random.uniform() - 1))
        // Separate streams, so that these settings do not change the crops.
        var proportions = RandomStream(seed: seed, name: "proportions \(epoch) \(index)")
        shape = CropShape(settings, &proportions)
        var light = RandomStream(seed: seed, name: "light \(epoch) \(index)")
        illumination = Illumination(settings, &light)
    }

    private init() {
        (scale, x, y, isMirrored, tone) = (1, 0.5, 0.5, false, Tone())
        (shape, illumination) = (nil, Illumination())
    }

    /// The largest square in the center.
    static let center = Augmentation()

    /// The crop, resized to `side` pixels wide and high.
    func apply(to photo: Image, side: Int) -> Image {
        let (width, height) = size(in: photo)
        let left = Int(Double(photo.width - width) * x)
        let top = Int(Double(photo.height - height) * y)
        let square = photo.cropped(x: left, y: top, width: width, height: height)
            .resized(to: side, height: side, filter: .bilinear)
        return illumination.apply(to: isMirrored ? square.flippedHorizontally() : square)
    }

    private func size(in photo: Image) -> (width: Int, height: Int) {
        if let shape { return shape.size(in: photo) }
        let short = min(photo.width, photo.height)
        let edge = min(max(Int(Double(short) * scale), 1), short)
        return (edge, edge)
    }
}

/// A change of brightness and contrast: L changes, a and b do not.
struct Tone: Hashable, Sendable {
    var shift = 0.0
    var contrast = 1.0

    /// Scales L about 50, shifts it, and clamps it to 0…100.
    func apply(to lightness: [Float]) -> [Float] {
        guard self != Tone() else { return lightness }
        let (shift, contrast) = (Float(shift), Float(contrast))
        let (center, range) = (LabScaling.lightnessCenter, LabScaling.lightnessRange)
        return lightness.map { min(max(center + (($0 - center) * contrast) + shift, 0), range) }
    }
}
