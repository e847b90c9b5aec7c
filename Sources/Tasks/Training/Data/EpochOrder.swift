import RetintLayers
import RetintPhotoData
import RetintTensors

/// The order of photos in an epoch: passes over all of them, each in its own random order.
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

    init(seed: UInt64, shards: [[Int]], window: Int) {
        (self.seed, self.shards, self.window) = (seed, shards, window)
    }

    /// - Parameter window: nil for all shards.
    init(seed: UInt64, of photos: [PhotoReference], window: Int?) {
        let shards = Dictionary(grouping: photos.indices) { photos[$0].shard ?? 0 }
        self.init(
            seed: seed, shards: shards.sorted { $0.key < $1.key }.map(\.value),
            window: window ?? .max)
    }

    /// The indices of the photos in one pass.
    func permutation(epoch: Int, pass: Int) -> [Int] {
        var random = RandomStream(seed: seed, name: "order \(epoch) \(pass)")
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

    private static func shuffled<Element>(
        _ elements: [Element], _ random: inout RandomStream
    ) -> [Element] {
        var order = elements
        for last in stride(from: order.count - 1, to: 0, by: -1) {
            order.swapAt(last, Int(random.next() % UInt64(last + 1)))
        }
        return order
    }
}
