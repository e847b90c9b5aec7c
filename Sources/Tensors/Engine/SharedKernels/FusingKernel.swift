import CRetintKernels

/// A kernel that applies elementwise work to its result and can be observed.
class FusingKernel: Kernel, EpilogueKernel, ObservableKernel {
    final var epilogue: ElementwiseProgram?
    final var observers: [any ObservingKernel] = []

    /// Floats of the kernel's own scratch; the epilogue's begins behind it.
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

    /// The epilogue, where the kernel applies it as it stores; ``finish(_:thread:)`` skips it then.
    private(set) final var tail: ChannelTail.Bound?

    /// Whether the kernel itself applies an epilogue that is a ``ChannelTail``.
    var appliesTail: Bool { false }

    /// Whether work is left when the results are stored.
    final var hasEpilogue: Bool { epilogue != nil && tail == nil || !observers.isEmpty }

    /// Whether all that follows a result is done as it is stored.
    final var finishesWhenStored: Bool {
        (epilogue == nil || appliesTail && epilogue?.channelTail != nil) && observers.isEmpty
    }

    /// The pieces of `units` of work for each thread, each of which has at least `fewest`; one if
    /// something observes the result, which sums up what each thread computes.
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
