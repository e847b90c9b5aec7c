import CRetintKernels
import RetintCompiler
import RetintGraph

extension Convolution: DecomposableOperation, EpilogueOperation {
    /// The bias becomes an addition, which is fused with the elementwise operations that follow.
    func decomposed(_ inputs: [Tensor]) -> Tensor {
        let product = inputs[0].graph.apply(self, Array(inputs.prefix(2)))
        return inputs.count == 3 ? product + perChannel(inputs[2], like: product) : product
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let shape = inputs[1].shape
        let geometry = convolutionGeometry(
            x: inputs[0].shape, y: output.shape, kernel: Pair(shape[2], shape[3]), window: window,
            groups: groups)
        return PatchConvolutionKernel(
            name: name, geometry: geometry, x: inputs[0], weight: inputs[1], output: output)
    }
}
