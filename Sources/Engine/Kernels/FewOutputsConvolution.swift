import CKernels
import TensorGraph

/// A convolution without groups to at most ``RT_FEW`` channels. Inputs: x and weights.
struct FewOutputsConvolution: Operation, Executable, EpilogueHost {
    static let name = "conv2d_few_outputs"
    let window: Window
    let shape: Shape

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        return shape
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let size = inputs[1].shape
        let geometry = convolutionGeometry(
            x: inputs[0].shape, y: output.shape, kernel: Pair(size[2], size[3]), window: window,
            groups: 1)
        return FewOutputsKernel(
            name: name, geometry: geometry, x: inputs[0], weight: inputs[1], output: output)
    }
}

private final class FewOutputsKernel: FusingKernel {
    private let x, weight, output: Buffer
    private var geometry: rt_conv
    private let rows: Int

    init(name: String, geometry: rt_conv, x: Buffer, weight: Buffer, output: Buffer) {
        (self.geometry, self.x, self.weight, self.output) = (geometry, x, weight, output)
        rows = output.shape[0] * output.shape[2]
        super.init(name: name, work: output.count * x.shape[1] * geometry.taps)
    }

    override var multiplyAdds: Int { output.count * x.shape[1] * geometry.taps }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let (line, own) = (output.count / rows, part.range(rows))
        rt_few_outputs(
            output.pointer, x.pointer, weight.pointer, &geometry, own.lowerBound, own.upperBound)
        finish(own.lowerBound * line..<own.upperBound * line, thread: part.index)
    }
}
