import RetintArchitectures
import RetintGraph
import RetintTensors

extension TrainingConfiguration {
    /// How much a network's colors change when the camera moves a little: the mean |difference| of
    /// ab/110 over the pixels that both views share.
    public struct TemporalLoss: LossTerm {
        /// The weight of that change when the image moves by 4 pixels.
        public var weight = 0.0
        /// The offset of the second view, in pixels along each axis.
        private static let shift = 4

        /// The defaults.
        public init() {}

        static var fields: [TrainingConfiguration.Field] {
            [
                .init(
                    "loss.temporal", \.loss.temporal.weight, .range(0...1e6),
                    "weight of the change of colors when the image moves by 4 pixels; for video")
            ]
        }

        func prepared(_ setup: LossSetup) throws -> [PreparedLoss] {
            guard weight > 0 else { return [] }
            guard !setup.hints else {
                throw TrainingError(
                    at: "loss.temporal", "cannot be combined with data.hints; turn one of them off")
            }
            let part = PreparedLoss(reference: .itself, inputs: [], view: Self.moved) { context in
                context.prediction.secondView.map { second in
                    Self.change(context.prediction.colors.ab, second) * Float(weight)
                }
            }
            return [part]
        }

        /// The lightness moved up and to the left.
        private static func moved(_ lightness: Tensor) -> Tensor {
            let (height, width) = (lightness.shape[2], lightness.shape[3])
            let moved = lightness.sliced(axis: 2, shift..<height).sliced(axis: 3, shift..<width)
            // The newly visible part is unknown: the edge is repeated.
            let below = moved.sliced(axis: 2, (height - 2 * shift)..<(height - shift))
            let tall = concat([moved, below], axis: 2)
            let right = tall.sliced(axis: 3, (width - 2 * shift)..<(width - shift))
            return concat([tall, right], axis: 3)
        }

        private static func change(_ first: Tensor, _ second: Tensor) -> Tensor {
            let (height, width) = (first.shape[2], first.shape[3])
            let expected = first.sliced(axis: 2, shift..<height).sliced(axis: 3, shift..<width)
            let found = second.sliced(axis: 2, 0..<(height - shift))
                .sliced(axis: 3, 0..<(width - shift))
            return abs(found - expected).mean() / LabScaling.colorRange
        }
    }
}
