import ImageIO
import Layers
import Locks
import Ranks

/// Makes the batch of any step, or a rank's part of it; it depends only on the step, the seed and
/// the photos, and not on the number of ranks.
final class BatchSource: Sendable {
    private struct Pass: Sendable {
        let epoch, number: Int
        let order: [Int]
    }

    let photos: PhotoCache
    let epochSteps: Int
    private let settings: TrainingConfiguration.DataSettings
    private let batch: Int
    /// The part of each batch that is made.
    private let part: Range<Int>
    private let seed: UInt64
    private let repeatsFirst: Bool
    /// The targets of classification, where the objective classifies.
    private let classes: ClassTargets?
    private let cutOuts: CutOuts?
    /// The orders used last; a batch may span two passes.
    private let passes = Mutex<[Pass]>([])

    /// - Throws: the errors of reading cut-outs.
    init(
        _ photos: PhotoCache, _ configuration: TrainingConfiguration, classes: ClassTargets?,
        ranks: Communicator = .single
    ) throws {
        (self.photos, self.classes) = (photos, classes)
        repeatsFirst = configuration.overfitOneBatch
        settings = configuration.data
        batch = configuration.batch
        part = BatchShares(of: batch, over: ranks).own
        seed = UInt64(configuration.seed)
        cutOuts = try CutOuts(settings)
        epochSteps = configuration.epochSteps ?? (photos.paths.count + batch - 1) / batch
    }

    /// - Parameter step: counted from 0.
    func batch(step: Int) throws -> Batch {
        let step = repeatsFirst ? 0 : step
        let (epoch, batchIndex) = step.quotientAndRemainder(dividingBy: epochSteps)
        let first = batchIndex * batch
        let indices = first + part.lowerBound..<first + part.upperBound
        let augmentations = indices.map {
            Augmentation(seed: seed, epoch: epoch, index: $0, settings: settings)
        }
        let crops = try zip(indices, augmentations).map { index, augmentation in
            let crop = augmentation.apply(
                to: try photos.photo(at: photoIndex(epoch: epoch, index: index)),
                side: settings.crop)
            let random = RandomStream(seed: seed, name: "cut-out \(epoch) \(index)")
            return cutOuts?.pasted(onto: crop, random) ?? crop
        }
        var batch = Batch(crops, tones: augmentations.map(\.tone))
        batch.addClasses(classes)
        if settings.hints {
            let randoms = indices.map { RandomStream(seed: seed, name: "hints \(epoch) \($0)") }
            batch.extras.merge(ColorHints.inputs(for: batch.target, randoms)) { $1 }
        }
        return batch
    }

    private func photoIndex(epoch: Int, index: Int) -> Int {
        let count = photos.paths.count
        let (number, position) = index.quotientAndRemainder(dividingBy: count)
        return passes.withLock { passes in
            if let known = passes.first(where: { $0.epoch == epoch && $0.number == number }) {
                return known.order[position]
            }
            let order = EpochOrder(seed: seed, count: count)
                .permutation(epoch: epoch, pass: number)
            passes = [Pass(epoch: epoch, number: number, order: order)] + passes.prefix(3)
            return order[position]
        }
    }
}
