import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// The product of rows, the last axis of x, and a loaded matrix in panels: a pointwise convolution
/// of values of any shape. Inputs: x [..., K] and ``PanelWeights``.
struct DenseProduct: EpilogueOperation {
    static let name = "linear"
    let outputs: Int
    let weights: PanelWeights

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        return Shape(inputs[0].dimensions.dropLast() + [outputs])
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let rows = output.asPixels(channels: outputs)
        let convolution = PanelConvolution(
            window: Window(), kernel: Pair(1), shape: rows.shape, weights: weights,
            isPacked: true)
        let x = inputs[0].asPixels(channels: inputs[0].shape[-1])
        return convolution.kernel(named: name, inputs: [x, inputs[1]], output: rows)
    }
}
