import ImageIO
import Layers

/// A random square of a photo, which becomes one example.
struct Augmentation: Hashable, Sendable {
    /// The square's side as a share of the photo's short side.
    let scale: Double
    /// Where it lies, 0…1 from one edge to the other.
    let x, y: Double
    let isMirrored: Bool
    /// What becomes of L.
    let tone: Tone

    /// The same for the same seed, epoch and index on any machine.
    init(seed: UInt64, epoch: Int, index: Int, settings: TrainingConfiguration.Data) {
        var random = RandomStream(seed: seed, name: "crop \(epoch) \(index)")
        let range = 1 - settings.minimumScale
        scale = settings.minimumScale + range * random.uniform()
        x = random.uniform()
        y = random.uniform()
        isMirrored = settings.flip && random.uniform() < 0.5
        tone = Tone(
            shift: 100 * settings.lightness * (2 * random.uniform() - 1),
            contrast: 1 + settings.contrast * (2 * random.uniform() - 1))
    }

    private init() {
        (scale, x, y, isMirrored, tone) = (1, 0.5, 0.5, false, Tone())
    }

    /// The largest square in the middle.
    static let center = Augmentation()

    /// The square, `side` pixels wide and high.
    func apply(to photo: Image, side: Int) -> Image {
        let short = min(photo.width, photo.height)
        let edge = min(max(Int(Double(short) * scale), 1), short)
        let left = Int(Double(photo.width - edge) * x)
        let top = Int(Double(photo.height - edge) * y)
        let square = photo.cropped(x: left, y: top, width: edge, height: edge)
            .resized(to: side, height: side, filter: .bilinear)
        return isMirrored ? square.flippedHorizontally() : square
    }
}

/// A photo taken lighter or darker, harder or softer: L changes, the colors stay.
struct Tone: Hashable, Sendable {
    var shift = 0.0
    var contrast = 1.0

    /// L in 0…100, stretched about 50, shifted and kept in its range.
    func apply(to lightness: [Float]) -> [Float] {
        guard self != Tone() else { return lightness }
        let (shift, contrast) = (Float(shift), Float(contrast))
        return lightness.map { min(max(50 + (($0 - 50) * contrast) + shift, 0), 100) }
    }
}

/// In which order an epoch takes the photos: all of them in a random order, then all in another
/// one, until the epoch ends.
struct EpochOrder {
    let seed: UInt64
    let count: Int

    /// The photos of one passage.
    func permutation(epoch: Int, passage: Int) -> [Int] {
        var random = RandomStream(seed: seed, name: "order \(epoch) \(passage)")
        var order = Array(0..<count)
        for last in stride(from: count - 1, to: 0, by: -1) {
            order.swapAt(last, Int(random.next() % UInt64(last + 1)))
        }
        return order
    }
}
