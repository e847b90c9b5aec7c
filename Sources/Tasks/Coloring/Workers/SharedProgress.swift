import RetintDistributed

/// How far all ranks are, as one of them says.
package struct SharedProgress: Sendable {
    private let count, ranks: Int
    private let say: @Sendable (Int) -> Void

    /// Says that nothing is done yet.
    ///
    /// - Parameters:
    ///   - count: the number of items of all ranks.
    ///   - say: receives how many of them are done.
    package init(_ count: Int, _ ranks: Communicator, _ say: @escaping @Sendable (Int) -> Void) {
        (self.count, self.ranks, self.say) = (count, ranks.size, say)
        say(0)
    }

    /// Says how far this rank is; it takes the others to be as far, but not to be done.
    ///
    /// - Parameter own: how many items this rank has done.
    package func update(_ own: Int) { say(ranks == 1 ? own : min(own * ranks, count - 1)) }

    /// Says that all ranks are done.
    package func finish() { if ranks > 1 { say(count) } }
}
