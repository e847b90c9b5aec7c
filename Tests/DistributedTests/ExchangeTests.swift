import RetintTestSupport
import Testing

@testable import RetintDistributed

/// Operations between ranks, which are threads here: what MPI adds is tested by `MPITests`.
struct ExchangeTests {
    private static func values(_ count: Int, rank: Int, seed: Int = 1) -> [Float] {
        (0..<count).map { index in
            let hash =
                UInt64(index * 31 + rank * 7919 + seed * 104_729)
                &* 6_364_136_223_846_793_005
            // Magnitudes so different that each order of summation has other bits.
            return Float(Int32(truncatingIfNeeded: hash >> 32)) * (hash >> 60 == 0 ? 1e4 : 1e-3)
        }
    }

    private static func sums(_ count: Int, ranks: Int, seed: Int = 1) -> [Float] {
        (1..<ranks).reduce(values(count, rank: 0, seed: seed)) { sum, rank in
            zip(sum, values(count, rank: rank, seed: seed)).map { $0 + $1 }
        }
    }

    private static func sum(
        _ values: inout [Float], _ ranks: Communicator, channel: Int
    ) throws {
        try values.withUnsafeMutableBufferPointer { buffer in
            ranks.startSum(buffer, channel: channel)
            try ranks.finishSum(channel: channel)
        }
    }

    @Test(arguments: [1, 2, 3, 4, 7], [0, 1, 2, 5, 64, 1003])
    func sumsAreInTheOrderOfRanks(size: Int, count: Int) throws {
        let results = try onRanks(size) { ranks in
            var values = Self.values(count, rank: ranks.rank)
            try Self.sum(&values, ranks, channel: 3)
            return values
        }
        let expected = Self.sums(count, ranks: size).map(\.bitPattern)
        for result in results { #expect(result.map(\.bitPattern) == expected) }
    }

    @Test func theOrderOfSumsIsSeen() {
        let forward = Self.sums(1003, ranks: 4)
        let backward = (0..<3).reversed().reduce(Self.values(1003, rank: 3)) { sum, rank in
            zip(sum, Self.values(1003, rank: rank)).map { $0 + $1 }
        }
        #expect(forward != backward, "the values above must tell orders apart")
    }

    /// Buckets that are under way together, while small messages are exchanged.
    @Test func sumsOvertakeEachOther() throws {
        let counts = [1003, 17, 64, 5000]
        let results = try onRanks(3) { ranks in
            var all: [[Float]] = []
            for round in 0..<5 {
                let buffers = counts.map { count in
                    let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
                    _ = buffer.initialize(
                        from: Self.values(count, rank: ranks.rank, seed: round))
                    return buffer
                }
                defer { for buffer in buffers { buffer.deallocate() } }
                for (channel, buffer) in buffers.enumerated() {
                    ranks.startSum(buffer, channel: channel)
                    #expect(try ranks.gather(integers: [ranks.rank]) == [[0], [1], [2]])
                }
                for channel in counts.indices.reversed() {
                    try ranks.finishSum(channel: channel)
                }
                all += buffers.map { Array($0) }
            }
            return all
        }
        let expected = (0..<5).flatMap { round in
            counts.map { Self.sums($0, ranks: 3, seed: round) }
        }
        for result in results { #expect(result == expected) }
    }

    /// What is sent is rounded; sums and what each rank has lost are all that there was.
    @Test(arguments: [2, 3, 4], [1, 5, 64, 1003])
    func compressedSumsKeepWhatIsLost(size: Int, count: Int) throws {
        let results = try onRanks(size) { ranks in
            var losses = (0..<count).map { Float($0 % 7) * 1e-3 }
            var values = (0..<count).map { Float(($0 * 37 + ranks.rank * 11) % 101) * 0.0123 }
            let wanted = zip(values, losses).map { Double($0) + Double($1) }
            try values.withUnsafeMutableBufferPointer { values in
                try losses.withUnsafeMutableBufferPointer { losses in
                    guard let x = values.baseAddress, let lost = losses.baseAddress else { return }
                    roundKeepingLosses(x, lost, count)
                    ranks.startSum(values, losses: lost, channel: 1)
                    try ranks.finishSum(channel: 1)
                }
            }
            return (wanted, values, losses)
        }
        for index in 0..<count {
            let sum = results[0].1[index]
            #expect(sum == Float(Float16(sum)), "a value of float16")
            #expect(results.allSatisfy { $0.1[index] == sum })
            let wanted = results.reduce(0) { $0 + $1.0[index] }
            let found = results.reduce(Double(sum)) { $0 + Double($1.2[index]) }
            #expect(abs(found - wanted) <= 1e-6 * Double(size))
        }
    }

    /// Starts two sums, of which none may be done before the first is waited for, and says whether
    /// they were done then; with the values afterwards.
    private static func measuredSums(
        _ schedule: SumSchedule, _ ranks: Communicator
    ) throws -> (early: [Bool], values: [[Float]], times: SumTimes) {
        let buffers = [1003, 64].map { count in
            let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: count)
            _ = buffer.initialize(from: Self.values(count, rank: ranks.rank))
            return buffer
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        var early: [Bool] = []
        let times = try ranks.measuring(schedule) {
            for (channel, buffer) in buffers.enumerated() {
                ranks.startSum(buffer, channel: channel)
            }
            for _ in 0..<20 { _ = try ranks.gather(integers: [0]) }
            early = [0, 1].map { ranks.isSumDone(channel: $0) }
            for channel in [0, 1] { try ranks.finishSum(channel: channel) }
        }
        return (early, buffers.map { Array($0) }, times)
    }

    @Test func delayedSumsWaitForTheEnd() throws {
        let results = try onRanks(3) { try Self.measuredSums(.afterBackward, $0) }
        for result in results {
            #expect(result.early == [false, false])
            #expect(result.values == [Self.sums(1003, ranks: 3), Self.sums(64, ranks: 3)])
            #expect(result.times.starts.map(\.count) == [1003, 64])
            let start = try #require(result.times.starts.last?.time)
            let wait = try #require(result.times.firstWait)
            let end = try #require(result.times.end)
            #expect(start <= wait && wait <= end)
        }
    }

    @Test func sumsThatAreLeftOutChangeNothing() throws {
        let results = try onRanks(2) { ranks in
            let left = try Self.measuredSums(.never, ranks)
            // Later ones are sent again.
            var values = Self.values(17, rank: ranks.rank)
            try Self.sum(&values, ranks, channel: 0)
            return (left.values, values)
        }
        for (rank, (left, values)) in results.enumerated() {
            #expect(left == [Self.values(1003, rank: rank), Self.values(64, rank: rank)])
            #expect(values == Self.sums(17, ranks: 2))
        }
    }

    /// More sums at once than are sent at once, and messages between them.
    @Test func manySumsTakeTurns() throws {
        let results = try onRanks(3) { ranks in
            let buffers = (0..<9).map { index in
                let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: 100 + index)
                _ = buffer.initialize(from: Self.values(100 + index, rank: ranks.rank))
                return buffer
            }
            defer { for buffer in buffers { buffer.deallocate() } }
            for (channel, buffer) in buffers.enumerated() {
                ranks.startSum(buffer, channel: channel)
            }
            try ranks.exchangeMessages(20)
            for channel in buffers.indices.reversed() { try ranks.finishSum(channel: channel) }
            return buffers.map { Array($0) }
        }
        let expected = (0..<9).map { Self.sums(100 + $0, ranks: 3) }
        for result in results { #expect(result == expected) }
    }

    @Test func gathersBytesOfDifferentLengths() throws {
        let results = try onRanks(4) { ranks in
            let own = [UInt8](repeating: UInt8(ranks.rank), count: 3 * ranks.rank)
            return [try ranks.gather(own), try ranks.gatherToFirst(own)]
        }
        let all = (0..<4).map { [UInt8](repeating: UInt8($0), count: 3 * $0) }
        for (rank, result) in results.enumerated() {
            #expect(result[0] == all)
            #expect(result[1] == (rank == 0 ? all : []))
        }
    }

    @Test(arguments: [1, 2, 3, 5], [0, 1, 4, 7])
    func itemsAreSharedOutAndGatheredInOrder(size: Int, count: Int) throws {
        @Sendable func value(_ index: Int) -> Double? {
            if index == 0 { return -0.0 }
            if index == 2 { return .infinity }
            return index % 3 == 1 ? nil : 0.1 * Double(index)
        }
        let results = try onRanks(size) { ranks in
            let own = ranks.ownIndices(of: count)
            return (own, try ranks.gather(own.map(value), of: count))
        }
        #expect(results.flatMap(\.0).sorted() == Array(0..<count))
        for result in results {
            #expect(result.1.map(\.?.bitPattern) == (0..<count).map { value($0)?.bitPattern })
        }
    }

    @Test func tooFewResultsAreRefused() throws {
        let error = #expect(throws: RankError.self) {
            _ = try onRanks(2) { try $0.gather($0.rank == 0 ? ["a", "b"] : [], of: 3) }
        }
        #expect(error?.description.contains("rank 1: has sent 0 results of 3 items") == true)
    }

    @Test func valuesAreBroadcast() throws {
        let results = try onRanks(3) { ranks in
            try ranks.broadcast(ranks.rank == 0 ? ["key": [1.5, .infinity]] : nil)
        }
        for result in results { #expect(result == ["key": [1.5, .infinity]]) }
    }

    @Test func broadcastsAndGathersNumbers() throws {
        let results = try onRanks(3) { ranks in
            let first = try ranks.broadcast(ranks.rank == 0 ? [1.5, -.infinity] : [])
            let numbers = try ranks.gather(numbers: [Double(ranks.rank), -0.0])
            return (first, numbers.map { $0.map(\.bitPattern) })
        }
        for (first, numbers) in results {
            #expect(first == [1.5, -.infinity])
            #expect(numbers == (0..<3).map { [Double($0).bitPattern, (-0.0).bitPattern] })
        }
    }

    @Test func oneRankNeedsNoMessages() throws {
        let ranks = Communicator.single
        #expect(try ranks.gather([1, 2]) == [[1, 2]])
        #expect(try ranks.broadcast([3]) == [3])
        #expect(try ranks.gather(numbers: [4]) == [[4]])
        try ranks.finish()
    }

    @Test(arguments: [(16, 2), (7, 3), (5, 5), (1000, 7)])
    func sharesCoverTheBatch(batch: Int, size: Int) {
        let parts = (0..<size).map { share(of: batch, rank: $0, size: size) }
        #expect(parts.flatMap { Array($0) } == Array(0..<batch))
        let counts = parts.map(\.count)
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1)
    }
}
