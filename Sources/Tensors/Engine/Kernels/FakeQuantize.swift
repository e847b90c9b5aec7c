import CRetintKernels
import RetintCompiler
import RetintGraph

/// Rounds each slice of a weight to the codes that it will be stored as. The threads share slices.
final class FakeQuantizeKernel: Kernel {
    private let operation: FakeQuantize
    private let input: Buffer
    private let output: Buffer
    /// A slice is `outer` runs of `inner` elements.
    private let slices: Int
    private let outer: Int
    private let inner: Int

    init(operation: FakeQuantize, input: Buffer, output: Buffer) {
        self.operation = operation
        self.input = input
        self.output = output
        let shape = input.shape
        let order = Layout.axes(rank: shape.rank)
        let position = operation.axis.flatMap { order.firstIndex(of: $0) }
        slices = position.map { shape[order[$0]] } ?? 1
        inner = order[(position.map { $0 + 1 } ?? 0)...].map { shape[$0] }.reduce(1, *)
        outer = order[..<(position ?? 0)].map { shape[$0] }.reduce(1, *)
        super.init(name: FakeQuantize.name, work: input.count * 4)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let range = part.range(slices)
        rt_fake_quantize(
            output.pointer, input.pointer, outer, slices, inner, range.lowerBound,
            range.upperBound, Float(operation.largestCode))
    }
}

extension FakeQuantize: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        FakeQuantizeKernel(operation: self, input: inputs[0], output: output)
    }
}

extension FakeQuantizeInput: LoopOperation {
    var loop: ElementwiseLoop { .c(rt_map_to_steps, Self.codes.low, Self.codes.high) }
}
