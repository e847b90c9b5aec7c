import RetintGraph

/// A kernel that applies elementwise work to its result while that is in the cache.
protocol EpilogueKernel: Kernel {
    /// The elementwise work for each finished part of the result.
    var epilogue: ElementwiseProgram? { get set }
}

/// A kernel that passes pixels of its result to observers while those pixels are in the cache.
protocol ObservableKernel: Kernel {
    var observers: [any ObservingKernel] { get set }

    /// Whether observers can be served if the result has `channels` channels.
    func canBeObserved(channels: Int) -> Bool
}

extension ObservableKernel {
    /// Passes finished elements of the result, whole pixels, to the observers.
    func notifyObservers(_ range: Range<Int>, thread: Int) {
        for observer in observers { observer.observe(range, thread: thread) }
    }
}

/// A kernel that can read one of its inputs, of shape [N, C, H, W], pixel by pixel while another
/// kernel computes it.
protocol ObservingKernel: Kernel {
    /// The index of that input among the operation's inputs.
    var observedInput: Int { get }
    var channels: Int { get }
    /// Whether another kernel passes the pixels, so that a run need not read them.
    var isObserving: Bool { get set }

    func observe(_ elements: Range<Int>, thread: Int)
}

/// A kernel that can compute its result a few rows at a time, between others that can.
protocol ChainableKernel: Kernel {
    /// The kernels that take rows from each other; empty if this one's shapes do not allow it.
    var links: [RowKernel] { get }
}

/// A kernel of elementwise work that can be combined with others that do not depend on it.
protocol BatchableKernel: Kernel {
    /// Empty if the kernel cannot be combined.
    var batchablePrograms: [ElementwiseProgram] { get }
}

/// A kernel that reads each element of its operands before it writes that element of its result, so
/// that the result may overwrite an operand.
protocol InPlaceKernel: Kernel {}

/// A kernel that exchanges messages with other ranks.
protocol MessagingKernel: Kernel {
    /// A description of the messages; all ranks must exchange them in the same order.
    var message: String { get }
}

/// A kernel whose run can fail, because it runs code that is not the engine's.
protocol FallibleKernel: Kernel {
    /// Why the last run failed; nil if it did not.
    var failure: GraphError? { get }
}
