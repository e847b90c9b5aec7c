import Glibc
import RetintArchitectures
import RetintGraph
import RetintTensors

extension TrainingConfiguration {
    /// An additional weight of pixels that are nearly gray in the original, so that walls, asphalt
    /// and white backgrounds stay gray while rare colors are learned: weight·max(0, 1 − C/chroma),
    /// with the true chroma C = √(a² + b²). An entirely gray image is not classified.
    public struct NeutralWeight: Hashable, Sendable {
        /// The weight of a gray pixel, beside 1.
        public var weight = 0.0
        /// The chroma, in units of ab, from which a pixel has no such weight.
        public var chroma = 10.0

        /// The defaults: no such weight.
        public init() {}
    }
}

extension TrainingConfiguration.NeutralWeight: ConfigurationSection {
    static var fields: [TrainingConfiguration.Field] {
        [
            .init(
                "loss.neutral", \.loss.neutral.weight, .range(0...100),
                "weights gray pixels by 1 + this, in regression and classification"),
            .init(
                "loss.neutral_chroma", \.loss.neutral.chroma, .range(0.5...50),
                "chroma √(a² + b²) at which that weight has fallen to 1"),
        ]
    }

    /// In units of ab/110, like the targets.
    private var bound: Float { Float(chroma) / LabScaling.colorRange }

    /// The weight of a pixel in addition to 1.
    ///
    /// - Parameters:
    ///   - a: divided by 110.
    ///   - b: divided by 110.
    func callAsFunction(a: Float, b: Float) -> Float {
        Float(weight) * max(0, 1 - hypot(a, b) / bound)
    }

    /// The weights of pixels in addition to 1.
    ///
    /// - Parameter chroma: divided by 110, [N, 1, H, W].
    func callAsFunction(chroma: Tensor) -> Tensor {
        relu(chroma * (-1 / bound) + 1) * Float(weight)
    }
}
