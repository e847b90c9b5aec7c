import CRetintKernels
import RetintCompiler
import RetintGraph

extension ConvolutionWeightGradient: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let geometry = convolutionGeometry(
            x: inputs[0].shape, y: inputs[1].shape, kernel: kernel, window: window, groups: groups)
        if geometry.isDepthwise {
            return DepthwiseWeightKernel(
                name: "conv2d_weight_depthwise", geometry: geometry, x: inputs[0], dy: inputs[1],
                output: output)
        }
        if groups == 1, inputs[0].shape[1].isMultiple(of: 16), geometry.taps <= RT_MOST_TAPS {
            return PanelWeightGradientKernel(
                name: name, geometry: geometry, x: inputs[0], dy: inputs[1], output: output)
        }
        return PatchWeightGradientKernel(
            name: name, geometry: geometry, x: inputs[0], dy: inputs[1], output: output)
    }
}
