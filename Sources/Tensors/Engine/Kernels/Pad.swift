import RetintGraph

extension Pad: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let strides = Layout.strides(output.shape)
        let offset = zip(before, strides).map(*).reduce(0, +)
        let view = View(shape: inputs[0].shape, steps: strides, offset: offset)
        return ScatterKernel(
            name: name, sources: [.init(input: inputs[0], view: view)], output: output,
            background: value)
    }
}
