import RetintGraph

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
