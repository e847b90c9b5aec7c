import RetintGraph
import RetintTensors

extension UpsampleNearest: ViewOperation {
    package func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        return View([
            .init(extent: input[0], step: strides[0]),
            .init(extent: input[2], step: strides[2]), .init(extent: factor.height, step: 0),
            .init(extent: input[3], step: strides[3]), .init(extent: factor.width, step: 0),
            .init(extent: input[1], step: 1),
        ])
    }
}
