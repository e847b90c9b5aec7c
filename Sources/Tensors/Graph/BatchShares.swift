/// How the examples of a batch are shared out over the ranks of a job: neighbors for each.
package struct BatchShares: Hashable, Sendable {
    /// The rank of this process, from 0.
    package let rank: Int
    /// How many examples each rank has.
    package let counts: [Int]

    /// - Precondition: `rank` is an index of `counts`.
    package init(rank: Int, counts: [Int]) {
        (self.rank, self.counts) = (rank, counts)
    }

    /// The number of ranks.
    package var size: Int { counts.count }

    /// The examples of this rank, by their number in the batch.
    package var own: Range<Int> {
        let start = counts[..<rank].reduce(0, +)
        return start..<start + counts[rank]
    }

    private var batch: Int { counts.reduce(0, +) }

    /// A rank's part of the batch; all together are 1.
    package func weight(of rank: Int) -> Double { Double(counts[rank]) / Double(batch) }

    /// The values of all ranks, if this rank has `count`.
    package func total(of count: Int) -> Int { count / counts[rank] * batch }
}
