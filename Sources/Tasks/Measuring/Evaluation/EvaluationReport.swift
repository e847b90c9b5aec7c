import RetintColoring
import RetintPhotoData

/// The quality of a model's colors on photos, compared with two baselines.
///
/// All values are means over photos, compared at the network's size or, with a ``fitting``, at the
/// photos' own size.
public struct EvaluationReport: Sendable {
    /// The quality of one way to color the photos.
    public struct Column: Hashable, Sendable {
        /// The quality over all photos.
        public let quality: EvaluationReport.ColorQuality
        /// The 95 % bootstrap confidence intervals; nil for a single photo.
        public let interval: EvaluationReport.ConfidenceInterval?
    }

    /// The quality of the model's colors on one photo.
    public struct Photo: Hashable, Sendable {
        /// The path; for a photo of a pack, the pack's path and the photo's name.
        public let file: String
        /// The quality of the model's colors.
        public let quality: EvaluationReport.ColorQuality
    }

    /// A photo that cannot be read.
    public struct Failure: Sendable {
        /// The file or packed photo.
        public let photo: PhotoReference
        /// Why it cannot be read: an `ImageError`.
        public let error: any Error
    }

    /// The name of the model.
    public let model: String
    /// The network's height in pixels.
    public let height: Int
    /// The network's width in pixels.
    public let width: Int
    /// The model's colors.
    public let colored: Column
    /// A baseline: the photos without color.
    public let gray: Column
    /// A baseline: the photos in the mean color of all photos.
    public let meanColor: Column
    /// The mean colorfulness of the photos themselves.
    public let originalColorfulness: Double
    /// The fraction of the photos' pixels that are nearly gray, see
    /// ``EvaluationReport/ColorQuality/nearGray``.
    public let originalNearGrayShare: Double
    /// The network whose features the Fréchet distance compares: `EfficientNet-Lite0`; nil if it
    /// was not measured.
    public let features: String?
    /// The damage that was applied to the model's input.
    public let damage: [OldPhotoSettings.Damage]
    /// The photos that were evaluated, in their order.
    public let photos: [Photo]
    /// The photos that were skipped.
    public let failures: [Failure]
    /// How photos were fitted to the network, if they were compared at their own size; nil if they
    /// were compared at the network's size.
    public let fitting: PhotoFitting?
}

extension EvaluationReport.Column {
    /// - Returns: nil if there are no images.
    init?(_ images: [ImageQuality], frechetDistance: Double?) {
        guard var quality = EvaluationReport.ColorQuality(images) else { return nil }
        quality.frechetDistance = frechetDistance
        self.quality = quality
        interval = EvaluationReport.ConfidenceInterval(images)
    }
}
