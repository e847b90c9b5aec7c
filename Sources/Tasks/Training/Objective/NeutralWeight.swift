import Glibc
import RetintArchitectures
import RetintGraph

/// An additional weight of pixels that are nearly gray in the original, so that walls, asphalt and
/// white backgrounds stay gray while rare colors are learned: weight·max(0, 1 − C/bound), with the
/// true chroma C = √(a² + b²).
struct NeutralWeight: Hashable, Sendable {
    private let weight: Float
    /// In units of ab/110, like the targets.
    private let bound: Float

    /// - Returns: nil if the loss has no such weight.
    init?(_ loss: TrainingConfiguration.LossSettings) {
        guard loss.neutral > 0 else { return nil }
        weight = Float(loss.neutral)
        bound = Float(loss.neutralChroma) / LabScaling.colorRange
    }

    /// The weight of a pixel in addition to 1.
    ///
    /// - Parameters:
    ///   - a: divided by 110.
    ///   - b: divided by 110.
    func callAsFunction(a: Float, b: Float) -> Float {
        weight * max(0, 1 - hypot(a, b) / bound)
    }

    /// The weights of pixels in addition to 1.
    ///
    /// - Parameter chroma: divided by 110, [N, 1, H, W].
    func callAsFunction(chroma: Tensor) -> Tensor {
        relu(chroma * (-1 / bound) + 1) * weight
    }
}
