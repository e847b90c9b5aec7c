import TensorGraph

extension Concat: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let strides = Layout.strides(output.shape)
        let place = axis < 0 ? axis + output.shape.rank : axis
        var start = 0
        let sources = inputs.map { input in
            let view = View(shape: input.shape, steps: strides, offset: start * strides[place])
            start += input.shape[place]
            return ScatterKernel.Source(input: input, view: view)
        }
        return ScatterKernel(name: name, sources: sources, output: output, background: nil)
    }
}
