import CKernels
import TensorGraph

/// Softmax or its logarithm over the middle axis of [outer, count, inner].
final class SoftmaxKernel: Kernel {
    private let isLogarithm: Bool
    private let input: Buffer
    private let output: Buffer
    private let outer: Int
    private let count: Int
    private let inner: Int

    init(name: String, isLogarithm: Bool, axis: Int, input: Buffer, output: Buffer) {
        self.isLogarithm = isLogarithm
        self.input = input
        self.output = output
        let shape = input.shape
        let order = Layout.axes(rank: shape.rank)
        let place = order.firstIndex(of: axis < 0 ? axis + shape.rank : axis) ?? 0
        outer = order[..<place].map { shape[$0] }.reduce(1, *)
        count = shape[order[place]]
        inner = order[(place + 1)...].map { shape[$0] }.reduce(1, *)
        super.init(name: name, work: input.count * 8)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let range = part.range(outer)
        rt_softmax(
            output.pointer, input.pointer, isLogarithm ? 1 : 0, count, inner, range.lowerBound,
            range.upperBound)
    }
}

extension Softmax: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        SoftmaxKernel(
            name: name, isLogarithm: false, axis: axis, input: inputs[0], output: output)
    }
}

extension LogSoftmax: Executable {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        SoftmaxKernel(
            name: name, isLogarithm: true, axis: axis, input: inputs[0], output: output)
    }
}
