import RetintGraph
import RetintTensors

/// Each channel several times, one after another (`torch.repeat_interleave` along channels).
package struct RepeatInterleave: ViewOperation {
    package static let name = "repeat_interleave"
    package let repetitions: Int

    package init(repetitions: Int) { self.repetitions = repetitions }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try requireRank(inputs[0], 4)
        var shape = inputs[0]
        shape[1] *= repetitions
        return shape
    }

    package func view(of input: Shape, output: Shape) -> View {
        View([
            .init(extent: input[0] * input[2] * input[3], step: input[1]),
            .init(extent: input[1], step: 1), .init(extent: repetitions, step: 0),
        ])
    }
}
