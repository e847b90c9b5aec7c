// Sums values over the ranks that mpirun started, and prints what each rank got: for MPITests.
import Glibc
import RetintDistributed

/// Sums `count` values over all ranks, and returns a hash of the sums' bits.
func hash(_ count: Int, _ ranks: Communicator, channel: Int) throws -> UInt64 {
    var values = (0..<count).map { Float(($0 * 7919 + ranks.rank * 31) % 1009) * 1.1 }
    try values.withUnsafeMutableBufferPointer { buffer in
        ranks.startSum(buffer, channel: channel)
        try ranks.finishSum(channel: channel)
    }
    return values.reduce(14_695_981_039_346_656_037) {
        ($0 ^ UInt64($1.bitPattern)) &* 1_099_511_628_211
    }
}

do {
    let ranks = try Communicator.world()
    let hashes = try [1, 7, 1003, 3_000_001].enumerated().map { channel, count in
        Int(truncatingIfNeeded: try hash(count, ranks, channel: channel))
    }
    let all = try ranks.gather(integers: hashes)
    if ranks.rank == 0 {
        print("ranks \(ranks.size) equal \(all.allSatisfy { $0 == all[0] }) hashes \(all[0])")
    }
    try ranks.finish()
} catch {
    print("\(error)")
    exit(1)
}
