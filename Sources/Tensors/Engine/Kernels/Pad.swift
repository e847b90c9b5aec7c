import RetintCompiler
import RetintGraph

extension Pad: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let view = Strides(output.shape).sliced(from: before, shape: inputs[0].shape).view
        return ScatterKernel(
            name: name, sources: [.init(input: inputs[0], view: view)], output: output,
            background: value)
    }
}
