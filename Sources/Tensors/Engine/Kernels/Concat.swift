import RetintCompiler
import RetintGraph

extension Concat: KernelOperation, MovingOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let whole = Strides(output.shape)
        let position = axis < 0 ? axis + output.shape.rank : axis
        var start = [Int](repeating: 0, count: output.shape.rank)
        let sources = inputs.map { input in
            let view = whole.sliced(from: start, shape: input.shape).view
            start[position] += input.shape[position]
            return ScatterKernel.Source(input: input, view: view)
        }
        return ScatterKernel(name: name, sources: sources, output: output, background: nil)
    }
}
