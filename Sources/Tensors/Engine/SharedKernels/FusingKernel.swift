import CRetintKernels

/// A kernel that applies elementwise work to its result and can be observed.
class FusingKernel: Kernel, EpilogueKernel, ObservableKernel {
    final var epilogue: ElementwiseProgram?
    final var observers: [any ObservingKernel] = []

    /// Floats of the kernel's own scratch; the epilogue's begins after it.
    func ownWorkspaceCount(threads: Int) -> Int { 0 }

    override func workspaceCount(threads: Int) -> Int {
        ownWorkspaceCount(threads: threads) + (epilogue?.scratchCount(threads: threads) ?? 0)
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        tail = appliesTail ? epilogue?.channelTail?.bound : nil
        guard tail == nil else { return }
        epilogue?.bind(
            threads: threads, scratch: workspace + ownWorkspaceCount(threads: threads))
    }

    /// The epilogue, if the kernel applies it while storing; then ``finish(_:thread:)`` skips it.
    private(set) final var tail: ChannelTail.Bound?

    /// Whether the kernel itself applies an epilogue that is a ``ChannelTail``.
    var appliesTail: Bool { false }

    /// Whether there is work after the results are stored.
    final var hasEpilogue: Bool { epilogue != nil && tail == nil || !observers.isEmpty }

    /// Whether all work on a result is done while it is stored.
    final var finishesWhenStored: Bool {
        (epilogue == nil || appliesTail && epilogue?.channelTail != nil) && observers.isEmpty
    }

    /// Whether all work on a result can be done where another kernel of a chain wants it.
    final var finishesAnywhere: Bool {
        observers.isEmpty && epilogue?.overwritesHead != false
    }

    /// Applies the epilogue to the finished elements `range` of a result whose element 0 would be
    /// at `base`, after ``finishesElsewhere()``.
    final func finish(
        _ range: Range<Int>, at base: UnsafeMutablePointer<Float>, thread: Int
    ) {
        guard tail == nil, let epilogue else { return }
        epilogue.place(at: base, thread: thread)
        epilogue.run(range, thread: thread)
    }

    /// Says that ``finish(_:at:thread:)`` will be called. Call this before the kernel is bound.
    final func finishesElsewhere() { epilogue?.isElsewhere = true }

    /// The number of pieces of each thread's share of `units`, each with at least `fewest`; one if
    /// something observes the result, because observers sum what each thread computes.
    final func pieces(_ units: Int, fewest: Int, threads: Int) -> Int {
        observers.isEmpty ? min(units / threads / max(fewest, 1), Self.mostPieces) : 1
    }

    /// More cost more than they balance.
    private static let mostPieces = 4

    final func canBeObserved(channels: Int) -> Bool { true }

    /// Applies the epilogue to the finished elements `range` of the result, and notifies observers.
    final func finish(_ range: Range<Int>, thread: Int) {
        if tail == nil { epilogue?.run(range, thread: thread) }
        notifyObservers(range, thread: thread)
    }

    /// Calls `body` with the tail for the channels from `channel` on, or with nil.
    final func withTail(_ channel: Int = 0, _ body: (UnsafePointer<rt_tail>?) -> Void) {
        guard let tail else { return body(nil) }
        withUnsafePointer(to: tail.values(from: channel)) { body($0) }
    }

    /// Calls `body` with the tail for the last `count` channels, padded to a panel; or with nil.
    final func withPaddedTail(
        _ channel: Int, _ count: Int, _ body: (UnsafePointer<rt_tail>?) -> Void
    ) {
        guard let tail else { return body(nil) }
        tail.withPaddedValues(from: channel, count: count) { body($0) }
    }
}
