import RetintDistributed
import RetintGraph
import RetintImages
import RetintLayers
import RetintLocks
import RetintPhotoData
import RetintTensors

/// Creates the batch of any step, or a rank's part of it. It depends only on the step, the seed and
/// the photos, not on the number of ranks.
final class BatchSource: Sendable {
    private struct Pass: Sendable {
        let epoch, number: Int
        let order: [Int]
    }

    let photos: PhotoCache
    /// The examples of an epoch.
    private let epochExamples: Int
    private let settings: TrainingConfiguration.DataSettings
    private let oldPhoto: OldPhotoSettings
    private let batch: Int
    /// The part of each batch that is created.
    private let part: Range<Int>
    private let seed: UInt64
    private let repeatsFirst: Bool
    private let feed: StepFeed
    private let cutOuts: CutOuts?
    private let order: EpochOrder
    /// The most recent orders; a batch may span two passes.
    private let passes = Mutex<[Pass]>([])
    /// Blocks of steps whose photos the system was asked to read, the most recent last.
    private let blocksAhead = Mutex<[Int]>([])
    /// The approximate number of photos in such a block: 100 MB for a short side of 512 pixels.
    private static let photosAhead = 128

    /// - Throws: the errors of reading cut-outs and of ``SourceBalance``.
    init(
        _ photos: PhotoCache, _ options: BatchOptions, feed: StepFeed = StepFeed(),
        ranks: Communicator = .single
    ) throws {
        (self.photos, self.feed) = (photos, feed)
        repeatsFirst = options.repeatsFirst
        (settings, oldPhoto) = (options.data, options.oldPhoto)
        (batch, seed) = (options.batch, options.seed)
        part = BatchShares(of: batch, over: ranks).own
        cutOuts = try CutOuts(settings)
        // If the batch size does not divide the number of photos, a batch spans two epochs: no
        // photo is lost, and none is used twice.
        epochExamples = options.epochSteps.map { $0 * options.batch } ?? photos.paths.count
        let photoCount = max(photos.paths.count, 1)
        order = try EpochOrder(
            seed: seed, of: photos.paths, settings,
            epochPasses: (epochExamples + photoCount - 1) / photoCount)
    }

    /// The epoch after a number of steps, from 0.
    func epoch(afterSteps steps: Int) -> Int { steps * batch / epochExamples }

    /// An example of the training: its epoch, and its index among those of the epoch.
    private struct Example {
        let epoch, index: Int

        var name: String { "\(epoch) \(index)" }
    }

    /// This part's examples of a step.
    private func examples(step: Int) -> [Example] {
        part.map { offset in
            let (epoch, index) = (step * batch + offset)
                .quotientAndRemainder(dividingBy: epochExamples)
            return Example(epoch: epoch, index: index)
        }
    }

    /// - Parameters:
    ///   - step: counted from 0.
    ///   - kept: the photos that the step's program has, from which it cuts crops; nil: none.
    func batch(step: Int, keeping kept: KeptPhotos? = nil) throws -> Batch {
        // Uploads are ordered by the step itself, also if it repeats the first batch.
        let source = repeatsFirst ? 0 : step
        readAhead(step: source) {
            needsPhotos || kept?.place(of: $0, in: step) == nil
        }
        let (examples, side) = (examples(step: source), side(step: source))
        let augmentations = examples.map {
            Augmentation(seed: seed, epoch: $0.epoch, index: $0.index, settings: settings)
        }
        let crops = try zip(examples, augmentations).map { example, augmentation in
            let damage = OldPhotoDamage(
                oldPhoto, of: (side, side), seed: seed, name: example.name)
            let cut =
                try damage.isCompressed
                ? nil : keptCrop(example, augmentation, side, step: step, kept)
            return TrainingCrop(
                source: try cut ?? crop(example, augmentation, side),
                damage: damage.isEmpty ? nil : damage)
        }
        var batch = try feed.batch(of: crops, side: side, tones: augmentations.map(\.tone))
        if settings.hints {
            batch.addHints(
                examples.map {
                    RandomStream(seed: seed, name: "hints \($0.epoch) \($0.index)")
                })
        }
        return batch
    }

    private func crop(
        _ example: Example, _ augmentation: Augmentation, _ side: Int
    ) throws -> TrainingCrop.Source {
        let photo = try photos.photo(at: photoIndex(example))
        let crop = augmentation.apply(to: photo, side: side)
        return .image(cutOuts?.pasted(onto: crop, cutOutRandom(example)) ?? crop)
    }

    /// The crop of a photo that the step's program has, or gets with this step; nil if it is made
    /// on this machine.
    private func keptCrop(
        _ example: Example, _ augmentation: Augmentation, _ side: Int, step: Int,
        _ kept: KeptPhotos?
    ) throws -> TrainingCrop.Source? {
        guard let kept, cutOuts?.changesCrop(cutOutRandom(example)) != true else { return nil }
        let index = photoIndex(example)
        if let place = kept.place(of: index, in: step) {
            return augmentation.window(in: (place.width, place.height), side: side).map {
                .window($0.moved(to: place.start))
            }
        }
        let photo = try photos.photo(at: index)
        guard let window = augmentation.window(in: (photo.width, photo.height), side: side),
            let place = kept.reserve(photo, at: index, for: step)
        else { return nil }
        if !needsPhotos { photos.drop(index) }
        return .window(
            window.moved(to: place.start), upload: PixelUpload(photo, at: place.start))
    }

    /// Whether crops of photos that a program keeps are made on this machine, too.
    private var needsPhotos: Bool {
        cutOuts != nil || settings.grayWorld > 0 || oldPhoto.jpeg > 0
    }

    private func cutOutRandom(_ example: Example) -> RandomStream {
        RandomStream(seed: seed, name: "cut-out \(example.name)")
    }

    /// The side of the crops of a step, in pixels.
    func side(step: Int) -> Int { settings.side(step: repeatsFirst ? 0 : step, seed: seed) }

    /// The steps of a training, those with crops of one side together.
    ///
    /// - Parameter count: of steps.
    func stepsBySide(of count: Int) -> [[Int]] {
        let groups = Dictionary(grouping: 0..<count) { settings.side(step: $0, seed: seed) }
        return groups.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The photos of this part's examples.
    func photoIndices(step: Int) -> [Int] { examples(step: step).map(photoIndex) }

    private func photoIndex(_ example: Example) -> Int {
        let (number, position) = example.index.quotientAndRemainder(dividingBy: photos.paths.count)
        return passes.withLock { passes in
            let known = passes.first { $0.epoch == example.epoch && $0.number == number }
            if let known { return known.order[position] }
            let order = order.pass(number, epoch: example.epoch)
            passes = [Pass(epoch: example.epoch, number: number, order: order)] + passes.prefix(3)
            return order[position]
        }
    }

    /// Asks the system to read the photos of the next steps, in the order in which packs store
    /// them.
    private func readAhead(step: Int, where isNeeded: (Int) -> Bool) {
        guard !repeatsFirst, photos.isPacked else { return }
        let steps = max(Self.photosAhead / part.count, 1)
        for block in step / steps...step / steps + 1 {
            let isNew = blocksAhead.withLock { blocks in
                guard !blocks.contains(block) else { return false }
                blocks = blocks.suffix(3) + [block]
                return true
            }
            guard isNew else { continue }
            photos.readAhead(
                (block * steps..<(block + 1) * steps).flatMap(photoIndices).filter(isNeeded))
        }
    }
}
