import RetintGraph
import RetintTensors

extension Slice: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        let offset = zip(begin, strides).map(*).reduce(0, +)
        return View(shape: output, steps: zip(stride, strides).map(*), offset: offset)
    }
}

extension SliceScatter: KernelOperation, MovingOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let strides = Layout.strides(output.shape)
        let offset = zip(slice.begin, strides).map(*).reduce(0, +)
        let view = View(
            shape: inputs[0].shape, steps: zip(slice.stride, strides).map(*), offset: offset)
        return ScatterKernel(
            name: name, sources: [.init(input: inputs[0], view: view)], output: output,
            background: 0)
    }
}
