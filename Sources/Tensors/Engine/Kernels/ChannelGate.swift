import CRetintKernels
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

private final class ChannelGateKernel: RowKernel {
    init(x: Buffer, output: Buffer) {
        super.init(
            name: ChannelGate.name, work: x.count, geometry: .pixelByPixel, x: x, output: output)
    }

    override var chains: Bool { true }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let addresses = Addresses(x: UnsafePointer(x.pointer), y: output.pointer)
        for row in part.range(rowCount) {
            compute(row..<row + 1, at: addresses, part: part, workspace)
            finish(row * rowFloats..<(row + 1) * rowFloats, thread: part.index)
        }
    }

    override func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        let width = output.shape[3]
        rt_gate(
            addresses.y, addresses.x, output.shape[1], rows.lowerBound * width,
            rows.upperBound * width)
    }
}
