/// How the examples of a batch are split between the ranks: consecutive examples for each, whose
/// numbers differ by at most one.
package struct BatchShares: Hashable, Sendable {
    package let ranks: Communicator
    /// The examples of the batch.
    package let batch: Int

    package init(of batch: Int, over ranks: Communicator) {
        (self.ranks, self.batch) = (ranks, batch)
    }

    /// The examples of this rank.
    package var own: Range<Int> { examples(of: ranks.rank) }

    /// The examples of a rank.
    package func examples(of rank: Int) -> Range<Int> {
        share(of: batch, rank: rank, size: ranks.size)
    }

    /// A rank's fraction of the batch; all together are 1.
    package func weight(of rank: Int) -> Double { Double(examples(of: rank).count) / Double(batch) }

    /// The values of all ranks, if this rank has `count`.
    package func total(of count: Int) -> Int { count / own.count * batch }
}
