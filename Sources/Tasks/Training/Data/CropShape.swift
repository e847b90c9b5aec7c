import Glibc
import RetintImages
import RetintLayers
import RetintTensors

/// The shape of a crop that is squeezed to a square, drawn like torchvision's `RandomResizedCrop`.
/// Such crops suit networks that get whole photos squeezed to squares.
struct CropShape: Hashable, Sendable {
    /// Areas as shares of the photo's, with ratios of width to height: the first that fits is
    /// taken.
    private var attempts: [Attempt] = []
    private let ratio: Double

    private struct Attempt: Hashable {
        let area, ratio: Double
    }

    private static let attemptCount = 10

    /// - Returns: nil if crops are squares.
    init?(_ settings: TrainingConfiguration.DataSettings, _ random: inout RandomStream) {
        guard let least = settings.minimumArea else { return nil }
        ratio = settings.ratio
        for _ in 0..<Self.attemptCount {
            let area = least + (1 - least) * random.uniform()
            attempts.append(
                Attempt(area: area, ratio: pow(settings.ratio, 2 * random.uniform() - 1)))
        }
    }

    /// The size of the crop of a photo, in pixels.
    func size(in photo: (width: Int, height: Int)) -> (width: Int, height: Int) {
        let (width, height) = (Double(photo.width), Double(photo.height))
        for attempt in attempts {
            let area = attempt.area * width * height
            let size = (
                width: Int((area * attempt.ratio).squareRoot().rounded()),
                height: Int((area / attempt.ratio).squareRoot().rounded())
            )
            let fits = 1...photo.width ~= size.width && 1...photo.height ~= size.height
            if fits { return size }
        }
        // The largest crop with an allowed aspect ratio.
        return (
            max(min(photo.width, Int(height * ratio)), 1),
            max(min(photo.height, Int(width * ratio)), 1)
        )
    }
}
