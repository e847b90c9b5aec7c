import ImageIO
import Layers
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
    private let repeatsFirst: Bool
    /// How colors become classes, where the objective classifies.
    private let classes: ClassTargets?
    private let cutOuts: CutOuts?
    /// The orders used last: a batch may lie across two passages.
    private let passages = Mutex<[Passage]>([])

    /// - Throws: what reading cut-outs throws.
    init(
        _ photos: PhotoCache, _ configuration: TrainingConfiguration, classes: ClassTargets?
    ) throws {
        (self.photos, self.classes) = (photos, classes)
        repeatsFirst = configuration.overfitOneBatch
        settings = configuration.data
        batch = configuration.batch
        seed = UInt64(configuration.seed)
        cutOuts = try CutOuts(settings)
        epochSteps = configuration.epochSteps ?? (photos.paths.count + batch - 1) / batch
    }

    /// - Parameter step: counted from 0.
    func batch(step: Int) throws -> Batch {
        let step = repeatsFirst ? 0 : step
        let (epoch, place) = step.quotientAndRemainder(dividingBy: epochSteps)
        let indices = place * batch..<(place + 1) * batch
        let augmentations = indices.map {
            Augmentation(seed: seed, epoch: epoch, index: $0, settings: settings)
        }
        let pictures = try zip(indices, augmentations).map { index, augmentation in
            let picture = augmentation.apply(
                to: try photos.photo(at: photoIndex(epoch: epoch, index: index)),
                side: settings.crop)
            let random = RandomStream(seed: seed, name: "cut-out \(epoch) \(index)")
            return cutOuts?.laid(over: picture, random) ?? picture
        }
        var batch = Batch(pictures, tones: augmentations.map(\.tone))
        batch.classify(classes)
        if settings.hints {
            let randoms = indices.map { RandomStream(seed: seed, name: "hints \(epoch) \($0)") }
            batch.extras.merge(ColorHints.inputs(for: batch.target, randoms)) { $1 }
        }
        return batch
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
