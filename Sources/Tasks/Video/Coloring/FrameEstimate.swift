import RetintGraph
import RetintImages
import RetintRuntime
import RetintTensors

/// A network's estimate for a frame, at the network's size.
package struct FrameEstimate: Sendable {
    /// The colors that the network estimates, row by row.
    package let a, b: [Float]
    /// The network's confidence, 0…1; nil if it has none.
    package let confidence: [Float]?
    /// The lightness, for the motion search.
    package let lightness: LightnessPyramid

    package init(_ estimate: ColorEstimate, lightness: [Float], width: Int, height: Int) {
        (a, b) = (estimate.ab.colorPlane(0), estimate.ab.colorPlane(1))
        confidence = estimate.certainty.map {
            Self.confidence(of: $0, width: width, height: height)
        }
        self.lightness = LightnessPyramid(lightness, width: width, height: height)
    }

    /// With a distribution over this many colors, the confidence is half that for a single color.
    private static let halvingColors: Float = 20

    private static func confidence(of certainty: TensorData, width: Int, height: Int) -> [Float] {
        let sure = certainty.scalars.map { $0 / ($0 + 1 / halvingColors) }
        return resizePlane(
            sure, width: certainty.shape[3], height: certainty.shape[2], toWidth: width,
            toHeight: height, filter: .bilinear)
    }
}

extension StableColors {
    /// The colors of the first frame of a scene.
    package init(_ estimate: FrameEstimate) {
        self.init(
            a: estimate.a, b: estimate.b, confidence: estimate.confidence,
            width: estimate.lightness.width, height: estimate.lightness.height)
    }

    /// The colors of the next frame.
    package func next(_ estimate: FrameEstimate, motion: MotionField) -> StableColors {
        next(a: estimate.a, b: estimate.b, confidence: estimate.confidence, motion: motion)
    }
}
