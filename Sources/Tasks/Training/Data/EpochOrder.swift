import RetintLayers
import RetintPhotoData
import RetintTensors

/// The order of photos in an epoch: passes over all of them, each in its own random order. With a
/// balance of sources, a pass has as many examples, but sees some photos less often than others.
///
/// Photos of a few shards at a time are shuffled, so that the photos needed next are close together
/// on the disk. The choice of shards is random, too. The order follows from seed, epoch and pass
/// alone.
struct EpochOrder: Sendable {
    let seed: UInt64
    /// The indices of the photos of each shard.
    let shards: [[Int]]
    /// The largest number of shards whose photos are shuffled together.
    let window: Int
    /// nil: every pass sees each photo once.
    let balance: SourceBalance?
    /// The number of passes in an epoch; the last may be a part of one.
    let epochPasses: Int

    init(
        seed: UInt64, shards: [[Int]], window: Int, balance: SourceBalance? = nil,
        epochPasses: Int = 1
    ) {
        (self.seed, self.shards, self.window) = (seed, shards, window)
        (self.balance, self.epochPasses) = (balance, epochPasses)
    }

    /// - Throws: the errors of ``SourceBalance``.
    init(
        seed: UInt64, of photos: [PhotoReference], _ settings: TrainingConfiguration.DataSettings,
        epochPasses: Int
    ) throws {
        let shards = Dictionary(grouping: photos.indices) { photos[$0].shard ?? 0 }
        self.init(
            seed: seed, shards: shards.sorted { $0.key < $1.key }.map(\.value),
            window: settings.shuffleShards ?? .max,
            balance: settings.sourceBalance > 0
                ? try SourceBalance(of: photos, balance: settings.sourceBalance) : nil,
            epochPasses: epochPasses)
    }

    /// The indices of the photos in one pass.
    func pass(_ pass: Int, epoch: Int) -> [Int] {
        var random = RandomStream(seed: seed, name: "order \(epoch) \(pass)")
        if let balance {
            let photos = balance.photos(pass: epoch * epochPasses + pass, seed: seed)
            return Self.shuffled(photos, &random)
        }
        guard shards.count > window else {
            // As without shards.
            return Self.shuffled(shards.flatMap { $0 }.sorted(), &random)
        }
        let shards = Self.shuffled(shards, &random)
        // Of equal sizes: otherwise the last one would be shuffled less.
        let windows = (shards.count + window - 1) / window
        return (0..<windows).flatMap { number in
            let part = shards.count * number / windows..<shards.count * (number + 1) / windows
            return Self.shuffled(shards[part].flatMap { $0 }, &random)
        }
    }

    static func shuffled<Element>(
        _ elements: [Element], _ random: inout RandomStream
    ) -> [Element] {
        var order = elements
        for last in stride(from: order.count - 1, to: 0, by: -1) {
            order.swapAt(last, Int(random.next() % UInt64(last + 1)))
        }
        return order
    }
}
