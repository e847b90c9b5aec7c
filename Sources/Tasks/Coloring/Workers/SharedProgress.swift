import RetintDistributed

/// The progress of all ranks, as reported by one of them.
package struct SharedProgress: Sendable {
    private let count, ranks: Int
    private let say: @Sendable (Int) -> Void

    /// Reports that nothing is done yet.
    ///
    /// - Parameters:
    ///   - count: the number of items of all ranks.
    ///   - say: receives the number of finished items.
    package init(_ count: Int, _ ranks: Communicator, _ say: @escaping @Sendable (Int) -> Void) {
        (self.count, self.ranks, self.say) = (count, ranks.size, say)
        say(0)
    }

    /// Reports the progress of this rank, assuming that the others are as far, but not done.
    ///
    /// - Parameter own: the number of items that this rank has finished.
    package func update(_ own: Int) { say(ranks == 1 ? own : min(own * ranks, count - 1)) }

    /// Reports that all ranks are done.
    package func finish() { if ranks > 1 { say(count) } }
}
