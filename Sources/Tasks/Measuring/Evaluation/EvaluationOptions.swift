import RetintColoring
import RetintPhotoData

/// How `evaluate` measures a model.
public struct EvaluationOptions: Sendable {
    /// The side of the network's square input in pixels; nil for a package's own size and 256 for
    /// a checkpoint.
    public var size: Int?
    /// Compares photos at their own size, up to 1,024 pixels per side, with the colors upsampled
    /// as stated. If nil, they are compared at the network's size, as in papers.
    public var fitting: PhotoFitting?
    /// Damages the model's input, always in the same way; its colors are applied to the undamaged
    /// photo. The baselines are not affected.
    public var oldPhoto = OldPhotoSettings()
    /// Compares the features of the colored photos with those of the originals, see
    /// ``EvaluationReport/ColorQuality/frechetDistance``; nil: they are not compared.
    public var features: FeatureNetwork?
    /// Also measures skin by its tone, see ``EvaluationReport/ColorQuality/skin``; nil: skin is not
    /// measured.
    public var skin: SkinMeasure?

    /// The defaults.
    public init() {}

    /// The defaults but for the network's size.
    public init(size: Int?) {
        self.size = size
    }
}
