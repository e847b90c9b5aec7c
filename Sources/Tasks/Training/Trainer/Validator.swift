import RetintColor
import RetintDistributed
import RetintEngine
import RetintGraph
import RetintImages
import RetintPhotoData
import RetintTensors

/// Measures weights on the center crops of a fixed set of photos.
final class Validator {
    private let program: Program
    private let crops: ValidationCrops
    private let feed: StepFeed
    /// The damage of the network's input; its colors are applied to the undamaged crops.
    private let oldPhoto: OldPhotoSettings
    private let ranks: Communicator
    /// The first crops with the colors of the last measurement, on rank 0.
    private(set) var samples: [ValidationSample] = []
    private static let sampleCount = 8
    /// The errors of photos that cannot be read.
    var badPhotos: [String] { crops.badPhotos }

    /// All ranks create a validator at the same time.
    ///
    /// - Throws: ``TrainingError`` if no photo can be read.
    init(
        _ objective: Objective, _ options: ValidationOptions, photos: [PhotoReference],
        ranks: Communicator = .single
    ) throws {
        (self.ranks, oldPhoto) = (ranks, options.oldPhoto)
        let side = options.side
        crops = try ValidationCrops(photos, side: side, batch: options.batch, over: ranks)
        let graph = Graph(mode: .inference)
        options.quantization.apply(to: graph)
        let objective = objective.validated
        feed = objective.feed
        let prediction = objective.prediction(graph, shape: [crops.batch, 1, side, side])
        let losses = try objective.photoLosses(prediction)
        program = try Program(
            outputs: [("ab", prediction.colors.ab), ("loss", losses)],
            options: options.execution.compileOptions)
        try program.load(objective.variables)
    }

    /// Batches are distributed round-robin over the ranks, so that each photo is in the same batch
    /// as with one process.
    ///
    /// - Returns: nil if `shouldStop` returned true in between, on any rank.
    func measure(
        _ weights: [String: TensorData], shouldStop: () -> Bool
    ) throws -> ValidationMetrics? {
        try program.load(weights)
        var measures: [PhotoMeasures] = []
        samples = []
        let batches = (crops.count + crops.batch - 1) / crops.batch
        for first in stride(from: 0, to: batches, by: ranks.size) {
            let stops = shouldStop()
            let own = stops ? [] : try measureBatch(first + ranks.rank)
            let all = try ranks.gather(
                numbers: [stops ? 1 : 0] + own.flatMap(\.numbers))
            if all.contains(where: { $0[0] > 0 }) { return nil }
            measures += all.flatMap { PhotoMeasures.list($0.dropFirst()) }
        }
        try gatherSamples()
        return measures.metrics(values: 3 * crops.side * crops.side)
    }

    /// Measures the photos of a batch.
    ///
    /// - Parameter number: the batch's number, from 0; it may be beyond the last one.
    private func measureBatch(_ number: Int) throws -> [PhotoMeasures] {
        let part = crops.images(ofBatch: number)
        guard !part.isEmpty else { return [] }
        // The program's batch size is fixed: the padding of the last batch is not counted.
        let filled = part + [Image](repeating: part[0], count: crops.batch - part.count)
        let examples = filled.enumerated().map { index, crop in
            let damage = OldPhotoDamage(
                oldPhoto, of: (crop.width, crop.height), seed: 0,
                name: "validation \(number * crops.batch + index)")
            return TrainingCrop(source: .image(crop), damage: damage.isEmpty ? nil : damage)
        }
        let batch = try feed.batch(
            of: examples, side: crops.side, tones: filled.map { _ in Tone() })
        batch.store(in: program)
        let results = try program.run(batch.inputs.named)
        guard let ab = results["ab"], let loss = results["loss"] else { return [] }
        return try part.enumerated().map { index, crop in
            let estimate = crop.colored(batch.undamagedLightness, ab, index: index)
            if number * crops.batch + index < Self.sampleCount {
                samples.append(ValidationSample(photo: crop, estimate: estimate))
            }
            return try PhotoMeasures(crop, estimate, loss: loss.scalars[index])
        }
    }

    /// Sends the samples of all ranks to rank 0.
    private func gatherSamples() throws {
        guard ranks.size > 1 else { return }
        let pixels = try ranks.gatherToFirst(
            samples.flatMap { $0.photo.pixels + $0.estimate.pixels })
        guard ranks.rank == 0 else { return }
        var rest = pixels.map { $0[...] }
        samples = (0..<min(Self.sampleCount, crops.count)).map { index in
            let owner = index / crops.batch % ranks.size
            let images = (0..<2).map { _ in
                let own = rest[owner].prefix(3 * crops.side * crops.side)
                rest[owner] = rest[owner].dropFirst(own.count)
                return Image(width: crops.side, height: crops.side, pixels: Array(own))
            }
            return ValidationSample(photo: images[0], estimate: images[1])
        }
    }
}

extension Image {
    /// This image's lightness with the estimated colors of an example of a batch.
    fileprivate func colored(_ lightness: TensorData, _ ab: TensorData, index: Int) -> Image {
        let count = self.width * self.height
        let plane = { (data: TensorData, channel: Int) in
            Array(data.scalars[channel * count..<(channel + 1) * count])
        }
        let pixels = LabPlanes(
            l: plane(lightness, index), a: plane(ab, 2 * index), b: plane(ab, 2 * index + 1)
        ).rgb()
        return Image(width: width, height: height, pixels: pixels)
    }
}
