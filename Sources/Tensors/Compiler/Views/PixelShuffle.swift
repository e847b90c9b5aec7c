import RetintGraph
import RetintTensors

extension PixelShuffle: ViewOperation {
    package func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        return View([
            .init(extent: input[0], step: strides[0]),
            .init(extent: input[2], step: strides[2]), .init(extent: factor, step: factor),
            .init(extent: input[3], step: strides[3]), .init(extent: factor, step: 1),
            .init(extent: output[1], step: factor * factor),
        ])
    }
}

extension PixelUnshuffle: ViewOperation {
    package func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        return View([
            .init(extent: input[0], step: strides[0]),
            .init(extent: output[2], step: strides[2] * factor),
            .init(extent: output[3], step: strides[3] * factor),
            .init(extent: input[1], step: 1),
            .init(extent: factor, step: strides[2]), .init(extent: factor, step: strides[3]),
        ])
    }
}

/// ``PixelShuffle`` of channels in the order of the pixels that they become: those of the first
/// pixel come first. A pixel's channels are together then before and after.
package struct OrderedPixelShuffle: ViewOperation {
    package static let name = "pixel_shuffle_ordered"
    package let factor: Int

    package init(factor: Int) { self.factor = factor }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try PixelShuffle(factor: factor).outputShape(for: inputs)
    }

    package func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        return View([
            .init(extent: input[0], step: strides[0]),
            .init(extent: input[2], step: strides[2]),
            .init(extent: factor, step: factor * output[1]),
            .init(extent: input[3], step: strides[3]),
            .init(extent: factor * output[1], step: 1),
        ])
    }
}
