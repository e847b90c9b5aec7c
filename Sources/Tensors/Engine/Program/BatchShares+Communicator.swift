import RetintDistributed
import RetintGraph

extension BatchShares {
    /// Shares of a batch that differ by one example at most.
    package init(of batch: Int, over ranks: Communicator) {
        let counts = (0..<ranks.size).map { share(of: batch, rank: $0, size: ranks.size).count }
        self.init(rank: ranks.rank, counts: counts)
    }
}
