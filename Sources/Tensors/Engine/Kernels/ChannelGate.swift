import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// The product of the first and the second half of an image's channels; ``GateFusion`` replaces the
/// formula by it.
struct ChannelGate: EpilogueOperation {
    static let name = "gate"

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try requireRank(inputs[0], 4)
        var shape = inputs[0]
        shape[1] /= 2
        return shape
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        ChannelGateKernel(x: inputs[0], output: output)
    }
}

private final class ChannelGateKernel: PixelKernel {
    init(x: Buffer, output: Buffer) {
        super.init(name: ChannelGate.name, work: x.count, x: x, output: output)
    }

    override func compute(
        pixels: Range<Int>, from x: UnsafePointer<Float>, to y: UnsafeMutablePointer<Float>
    ) {
        rt_gate(y, x, output.shape[1], pixels.lowerBound, pixels.upperBound)
    }
}
