import CKernels
import TensorGraph

/// One step of a compiled program: reads and writes buffers, allocates nothing when it runs.
class Kernel {
    /// The operation's name, for reports.
    let name: String
    /// Multiply-adds of one run.
    var multiplyAdds: Int { 0 }
    /// Floats of workspace that a run needs, for all threads together.
    func workspaceCount(threads: Int) -> Int { 0 }
    /// How many phases a run has; all threads finish one before the next begins.
    var phases: Int { 1 }
    /// Roughly how many elements a run touches; small work stays on one thread.
    let work: Int

    init(name: String, work: Int) {
        self.name = name
        self.work = work
    }

    /// Sums of this kernel's results that are taken while those are in the cache.
    final var observers: [ChannelSumsKernel] = []

    /// Whether ``observers`` are served, for results of so many channels.
    func servesObservers(channels: Int) -> Bool { false }

    /// Shows finished elements of the results, whole pixels, to the observers.
    final func show(_ range: Range<Int>, thread: Int) {
        for observer in observers { observer.observe(range, thread: thread) }
    }

    /// Called once, after all buffers and the workspace have their places.
    func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {}

    func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        preconditionFailure("\(name) does not run")
    }
}

/// A kernel whose result other elementwise work can be applied to while it is in the cache.
class FusingKernel: Kernel {
    /// What is done to each finished stretch of the result.
    var epilogue: ElementwiseProgram?

    /// Where this kernel's own scratch ends and the epilogue's begins.
    func ownWorkspaceCount(threads: Int) -> Int { 0 }

    override func workspaceCount(threads: Int) -> Int {
        ownWorkspaceCount(threads: threads) + (epilogue?.scratchCount(threads: threads) ?? 0)
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        tail = takesTail ? epilogue?.channelTail : nil
        guard tail == nil else { return }
        epilogue?.bind(
            threads: threads, scratch: workspace + ownWorkspaceCount(threads: threads))
    }

    /// The epilogue, where the kernel applies it as it stores; nothing is left for ``finish``.
    private(set) var tail: ChannelTail?

    /// Whether the kernel applies an epilogue of one scale, bias and range itself.
    var takesTail: Bool { false }

    /// Whether work is left when the results are stored.
    var hasEpilogue: Bool { epilogue != nil && tail == nil || !observers.isEmpty }

    /// Whether all that follows a result is done as it is stored.
    var leavesNothing: Bool {
        (epilogue == nil || takesTail && epilogue?.channelTail != nil) && observers.isEmpty
    }

    override func servesObservers(channels: Int) -> Bool { true }

    /// Applies the epilogue to the finished elements `range` of the result, and shows them.
    func finish(_ range: Range<Int>, thread: Int) {
        if tail == nil { epilogue?.run(range, thread: thread) }
        show(range, thread: thread)
    }

    /// Calls with the tail for the channels from `channel` on, or with nil.
    func withTail(_ channel: Int = 0, _ body: (UnsafePointer<rt_tail>?) -> Void) {
        guard let tail else { return body(nil) }
        withUnsafePointer(to: tail.values(from: channel)) { body($0) }
    }

    /// Calls with the tail for the last `count` channels, as long as a panel; or with nil.
    func withPaddedTail(
        _ channel: Int, _ count: Int, _ body: (UnsafePointer<rt_tail>?) -> Void
    ) {
        guard let tail else { return body(nil) }
        tail.withPaddedValues(from: channel, count: count) { body($0) }
    }
}

/// An operation that has a kernel of its own.
protocol Executable: Operation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel
}

/// An operation whose kernel applies elementwise work to its result: a ``FusingKernel``.
protocol EpilogueHost: Operation {}

/// An operation that only picks elements of its input.
protocol ViewOperation: Operation {
    /// Which elements of the input the output holds, in the output's physical order.
    func view(of input: Shape, output: Shape) -> View
}

/// An elementwise operation as one instruction.
protocol PointwiseOperation: Operation {
    var instruction: Instruction.Code { get }
}

/// An operation that the engine expresses by others before it compiles.
protocol DecomposableOperation: Operation {
    func decomposed(_ inputs: [Tensor]) -> Tensor
}

func rtGather(
    _ target: UnsafeMutablePointer<Float>, _ source: UnsafePointer<Float>, _ view: rt_view,
    _ count: Int
) {
    withUnsafePointer(to: view) { rt_gather(target, source, $0, 0, count) }
}

func rtScatter(
    _ target: UnsafeMutablePointer<Float>, _ source: UnsafePointer<Float>, _ view: rt_view,
    _ count: Int
) {
    withUnsafePointer(to: view) { rt_scatter(target, source, $0, 0, count) }
}
