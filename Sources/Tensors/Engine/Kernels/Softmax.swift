import CRetintKernels
import RetintCompiler
import RetintGraph

/// Softmax or its logarithm over the middle axis of [outer, count, inner].
final class SoftmaxKernel: PixelKernel {
    private let isLogarithm: Bool
    private let outer: Int
    private let count: Int
    private let inner: Int

    init(name: String, isLogarithm: Bool, axis: Int, input: Buffer, output: Buffer) {
        self.isLogarithm = isLogarithm
        let shape = input.shape
        let order = Layout.axes(rank: shape.rank)
        let position = order.firstIndex(of: axis < 0 ? axis + shape.rank : axis) ?? 0
        outer = order[..<position].map { shape[$0] }.reduce(1, *)
        count = shape[order[position]]
        inner = order[(position + 1)...].map { shape[$0] }.reduce(1, *)
        super.init(name: name, work: input.count * 8, x: input, output: output)
    }

    /// Along the channels, pixels do not depend on each other.
    override var chains: Bool { output.shape.rank == 4 && inner == 1 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let range = part.range(outer)
        compute(pixels: range, from: x.pointer, to: output.pointer)
        finish(
            range.lowerBound * count * inner..<range.upperBound * count * inner,
            thread: part.index)
    }

    /// The blocks of the outer axis, which are pixels where kernels chain.
    override func compute(
        pixels blocks: Range<Int>, from x: UnsafePointer<Float>,
        to y: UnsafeMutablePointer<Float>
    ) {
        rt_softmax(
            y, x, isLogarithm ? 1 : 0, count, inner, blocks.lowerBound, blocks.upperBound)
    }
}

extension Softmax: EpilogueOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        SoftmaxKernel(
            name: name, isLogarithm: false, axis: axis, input: inputs[0], output: output)
    }
}

extension LogSoftmax: EpilogueOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        SoftmaxKernel(
            name: name, isLogarithm: true, axis: axis, input: inputs[0], output: output)
    }
}
