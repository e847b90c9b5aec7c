import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

extension ConvolutionTranspose: DecomposableOperation, EpilogueOperation {
    func decomposed(_ inputs: [Tensor]) -> Tensor {
        let product = inputs[0].graph.apply(self, Array(inputs.prefix(2)))
        return inputs.count == 3 ? product + perChannel(inputs[2], like: product) : product
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let (x, weight) = (inputs[0], inputs[1])
        let kernel = Pair(weight.shape[2], weight.shape[3])
        if let equivalent = equivalentConvolution(kernel, x.shape, output.shape) {
            return PatchConvolutionKernel(
                name: name, geometry: equivalent, x: x, weight: weight, output: output,
                flips: true)
        }
        let geometry = convolutionGeometry(
            x: output.shape, y: x.shape, kernel: kernel, window: window, groups: groups)
        return ScatterConvolutionKernel(
            name: name, geometry: geometry, x: x, weight: weight, output: output)
    }

    /// At stride 1 a transposed convolution is a convolution with the kernel rotated by 180°.
    private func equivalentConvolution(_ kernel: Pair, _ x: Shape, _ y: Shape) -> rt_conv? {
        let rotated = window.rotated(kernel)
        guard window.stride == 1, groups == 1, rotated.padding.top >= 0, rotated.padding.left >= 0
        else { return nil }
        return convolutionGeometry(x: x, y: y, kernel: kernel, window: rotated, groups: 1)
    }
}
