import RetintCompiler
import RetintDistributed
import RetintGraph

/// Copies tensors to a bucket and starts to sum it.
private final class AllReduceStartKernel: Kernel, MessagingKernel {
    private let operation: AllReduceStart
    private let ranks: Communicator
    private let tensors, residuals: [Buffer]
    private let layout: BucketLayout
    private let output: Buffer

    init(
        _ operation: AllReduceStart, _ ranks: Communicator, inputs: [Buffer], output: Buffer
    ) {
        (self.operation, self.ranks, self.output) = (operation, ranks, output)
        let count = operation.compresses ? inputs.count / 2 : inputs.count
        (tensors, residuals) = (Array(inputs[..<count]), Array(inputs[count...]))
        layout = BucketLayout(tensors.map(\.shape))
        super.init(name: AllReduceStart.name, work: output.count)
    }

    var message: String { operation.message(of: output.count) }

    /// The rounding error of each element, if values are rounded.
    private var losses: UnsafeMutablePointer<Float>? {
        operation.compresses ? output.pointer + layout.count : nil
    }

    override var phases: Int { 2 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        if phase == 0 {
            let range = part.range(layout.count)
            pack(tensors, range, to: output.pointer)
            guard let losses else { return }
            pack(residuals, range, to: losses)
            roundKeepingLosses(
                output.pointer + range.lowerBound, losses + range.lowerBound, range.count)
        } else if part.index == 0 {
            let values = UnsafeMutableBufferPointer(start: output.pointer, count: layout.count)
            ranks.startSum(values, losses: losses, channel: operation.channel)
        }
    }

    /// Fills a part of a bucket, with zeros between the tensors.
    private func pack(
        _ tensors: [Buffer], _ range: Range<Int>, to bucket: UnsafeMutablePointer<Float>
    ) {
        for (index, tensor) in tensors.enumerated() {
            let start = layout.offsets[index], end = start + tensor.count
            let next = index + 1 < tensors.count ? layout.offsets[index + 1] : layout.count
            let copied = range.clamped(to: start..<end)
            (bucket + copied.lowerBound).update(
                from: tensor.pointer + max(copied.lowerBound - start, 0), count: copied.count)
            let zeros = range.clamped(to: end..<next)
            (bucket + zeros.lowerBound).update(repeating: 0, count: zeros.count)
        }
    }
}

/// A kernel that waits for other ranks.
private class WaitingKernel: Kernel, FallibleKernel, MessagingKernel {
    private(set) var failure: GraphError?
    let message: String

    init(_ operation: some RankOperation, output: Buffer) {
        message = operation.message(of: output.count)
        // No work: it waits on the thread that runs the program.
        super.init(name: operation.name, work: 0)
    }

    func wait() throws(RankError) {}

    final override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        guard part.index == 0 else { return }
        failure = nil
        do throws(RankError) {
            try wait()
        } catch {
            failure = GraphError(operation: name, reason: "\(error)")
        }
    }
}

/// Waits for the sums of a bucket, which replace it.
private final class AllReduceFinishKernel: WaitingKernel {
    private let operation: AllReduceFinish
    private let ranks: Communicator

    init(_ operation: AllReduceFinish, _ ranks: Communicator, output: Buffer) {
        (self.operation, self.ranks) = (operation, ranks)
        super.init(operation, output: output)
    }

    override func wait() throws(RankError) {
        try ranks.finishSum(channel: operation.channel)
    }
}

extension AllReduceStart: ExchangingOperation, PromptOperation {
    func kernel(inputs: [Buffer], output: Buffer, _ communicator: Communicator) -> Kernel {
        AllReduceStartKernel(self, communicator, inputs: inputs, output: output)
    }
}

extension AllReduceFinish: ExchangingOperation, InPlaceOperation {
    func kernel(inputs: [Buffer], output: Buffer, _ communicator: Communicator) -> Kernel {
        AllReduceFinishKernel(self, communicator, output: output)
    }
}

/// Combines two rows of all ranks, [2, C], to two.
private final class CombiningKernel: WaitingKernel {
    private let operation: any RankCombination
    private let ranks: Communicator
    private let input, output: Buffer
    private let all: UnsafeMutableBufferPointer<Float>

    init(
        _ operation: some RankCombination, _ ranks: Communicator, input: Buffer, output: Buffer
    ) {
        (self.operation, self.ranks, self.input, self.output) = (operation, ranks, input, output)
        all = .allocate(capacity: ranks.size * input.count)
        super.init(operation, output: output)
    }

    deinit { all.deallocate() }

    override func wait() throws(RankError) {
        let own = UnsafeBufferPointer(start: input.pointer, count: input.count)
        try ranks.gather(UnsafeRawBufferPointer(own), into: UnsafeMutableRawBufferPointer(all))
        operation.combine(UnsafeBufferPointer(all), to: output.pointer)
    }
}

extension ExchangingOperation where Self: RankCombination {
    func kernel(inputs: [Buffer], output: Buffer, _ communicator: Communicator) -> Kernel {
        CombiningKernel(self, communicator, input: inputs[0], output: output)
    }
}

extension CombinedMoments: ExchangingOperation {}
extension CombinedSums: ExchangingOperation {}
