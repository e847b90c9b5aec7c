import TensorGraph

extension Broadcast: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
        View(broadcasting: input, to: output)
    }
}

extension Transpose: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        return View(shape: output, steps: permutation.map { strides[$0] })
    }
}

extension Slice: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        let offset = zip(begin, strides).map(*).reduce(0, +)
        return View(shape: output, steps: zip(stride, strides).map(*), offset: offset)
    }
}

extension UpsampleNearest: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        return View([
            .init(extent: input[0], step: strides[0]),
            .init(extent: input[2], step: strides[2]), .init(extent: factor.height, step: 0),
            .init(extent: input[3], step: strides[3]), .init(extent: factor.width, step: 0),
            .init(extent: input[1], step: 1),
        ])
    }
}

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
