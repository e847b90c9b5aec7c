import RetintCompiler
import RetintGraph

extension SliceScatter: KernelOperation, MovingOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let view = Strides(output.shape)
            .sliced(from: slice.begin, stride: slice.stride, shape: inputs[0].shape).view
        return ScatterKernel(
            name: name, sources: [.init(input: inputs[0], view: view)], output: output,
            background: 0)
    }
}
