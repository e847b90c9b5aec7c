import ImageIO
import Synchronization

/// Makes the batch of any step: what it holds depends on the step, the seed and the photos alone.
final class BatchSource: Sendable {
    private struct Passage: Sendable {
        let epoch, number: Int
        let order: [Int]
    }

    let photos: PhotoCache
    let epochSteps: Int
    private let settings: TrainingConfiguration.Data
    private let batch: Int
    private let seed: UInt64
    /// The orders used last: a batch may lie across two passages.
    private let passages = Mutex<[Passage]>([])

    init(_ paths: [String], _ configuration: TrainingConfiguration) {
        settings = configuration.data
        batch = configuration.batch
        seed = UInt64(configuration.seed)
        epochSteps = configuration.epochSteps ?? (paths.count + batch - 1) / batch
        photos = PhotoCache(
            paths, shortSide: 2 * settings.crop, maximumBytes: settings.cacheMegabytes << 20)
    }

    /// - Parameter step: counted from 0.
    func batch(step: Int) throws -> Batch {
        let (epoch, place) = step.quotientAndRemainder(dividingBy: epochSteps)
        let indices = place * batch..<(place + 1) * batch
        let augmentations = indices.map {
            Augmentation(seed: seed, epoch: epoch, index: $0, settings: settings)
        }
        let pictures = try zip(indices, augmentations).map { index, augmentation in
            augmentation.apply(
                to: try photos.photo(at: photoIndex(epoch: epoch, index: index)),
                side: settings.crop)
        }
        return Batch(pictures, tones: augmentations.map(\.tone))
    }

    private func photoIndex(epoch: Int, index: Int) -> Int {
        let count = photos.paths.count
        let (number, place) = index.quotientAndRemainder(dividingBy: count)
        return passages.withLock { passages in
            if let known = passages.first(where: { $0.epoch == epoch && $0.number == number }) {
                return known.order[place]
            }
            let order = EpochOrder(seed: seed, count: count)
                .permutation(epoch: epoch, passage: number)
            passages = [Passage(epoch: epoch, number: number, order: order)] + passages.prefix(3)
            return order[place]
        }
    }
}
