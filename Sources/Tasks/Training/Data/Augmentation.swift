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
        let box = box(in: (photo.width, photo.height))
        let square = photo.cropped(x: box.x, y: box.y, width: box.width, height: box.height)
            .resized(to: side, height: side, filter: Self.filter)
        return illumination.apply(to: isMirrored ? square.flippedHorizontally() : square)
    }

    /// The same as numbers for a program that has the photo's pixels; nil if such a program cannot
    /// make the crop.
    ///
    /// - Parameter photo: its size.
    func window(in photo: (width: Int, height: Int), side: Int) -> CropWindow? {
        guard let levels = illumination.levels else { return nil }
        let box = box(in: photo)
        return CropWindow(
            rowLength: photo.width,
            columns: ByteTaps(from: box.width, to: side, filter: Self.filter).moved(by: box.x),
            rows: ByteTaps(from: box.height, to: side, filter: Self.filter).moved(by: box.y),
            rowsFirst: Image.losesRowsFirst(
                from: (box.width, box.height), to: (side, side)),
            isMirrored: isMirrored, levels: levels)
    }

    private static let filter = ResampleFilter.bilinear

    /// What is cut out of a photo.
    private func box(
        in photo: (width: Int, height: Int)
    ) -> (x: Int, y: Int, width: Int, height: Int) {
        let (width, height) = size(in: photo)
        return (
            Int(Double(photo.width - width) * x), Int(Double(photo.height - height) * y), width,
            height
        )
    }

    private func size(in photo: (width: Int, height: Int)) -> (width: Int, height: Int) {
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
