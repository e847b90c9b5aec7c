import RetintGraph

extension Concat: KernelOperation, MovingOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let strides = Layout.strides(output.shape)
        let position = axis < 0 ? axis + output.shape.rank : axis
        var start = 0
        let sources = inputs.map { input in
            let view = View(shape: input.shape, steps: strides, offset: start * strides[position])
            start += input.shape[position]
            return ScatterKernel.Source(input: input, view: view)
        }
        return ScatterKernel(name: name, sources: sources, output: output, background: nil)
    }
}
