import RetintGraph
import RetintTensors

extension PixelShuffle: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
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
    func view(of input: Shape, output: Shape) -> View {
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
