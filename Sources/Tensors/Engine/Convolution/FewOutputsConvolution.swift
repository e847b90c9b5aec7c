import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// A convolution without groups to at most ``RT_FEW`` channels. Inputs: x and weights.
struct FewOutputsConvolution: EpilogueOperation {
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

private final class FewOutputsKernel: RowKernel {
    private let weight: Buffer

    init(name: String, geometry: rt_conv, x: Buffer, weight: Buffer, output: Buffer) {
        self.weight = weight
        super.init(
            name: name, work: output.count * x.shape[1] * geometry.taps, geometry: geometry, x: x,
            output: output)
    }

    override var multiplyAdds: Int { output.count * x.shape[1] * geometry.taps }
    override var chains: Bool { true }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let own = part.range(rowCount)
        compute(own, at: Addresses(x: x.pointer, y: output.pointer), part: part, workspace)
        finish(own.lowerBound * rowFloats..<own.upperBound * rowFloats, thread: part.index)
    }

    override func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        var geometry = geometry
        rt_few_outputs(
            addresses.y, addresses.x, weight.pointer, &geometry, rows.lowerBound, rows.upperBound)
    }
}
