import ColorScience
import Colorizers
import Engine
import ImageIO
import Photos
import Ranks
import TensorGraph

/// Measures weights on the center crops of a fixed set of photos.
final class Validator {
    private let program: Program
    private let crops: [Image]
    private let size: Int
    private let classes: ClassTargets?
    private let ranks: Communicator
    /// The first crops with the colors of the last measurement; on rank 0.
    private(set) var samples: [ValidationSample] = []
    private static let sampleCount = 8
    let badPhotos: [ImageError]

    /// - Throws: ``TrainingError`` if no photo can be read.
    init(
        _ network: any ColorizerNetwork, _ configuration: TrainingConfiguration,
        photos: [PhotoReference],
        classes: ClassTargets? = nil, ranks: Communicator = .single
    ) throws {
        (self.classes, self.ranks) = (classes, ranks)
        // The network is measured without hints.
        var configuration = configuration
        configuration.data.hints = false
        let side = configuration.data.crop
        let cache = PhotoCache(photos, shortSide: 2 * side, maximumBytes: 0)
        crops = photos.indices.compactMap { index in
            cache.readablePhoto(index).map { Augmentation.center.apply(to: $0, side: side) }
        }
        badPhotos = cache.badPhotos
        guard !crops.isEmpty else { throw cache.noPhotos }
        size = min(configuration.batch, crops.count)
        let graph = Graph(mode: .inference)
        graph.weightRounding = configuration.quantization.rounding
        let objective = try Objective(network, configuration)
        let prediction = objective.prediction(graph, shape: [size, 1, side, side])
        program = try Program(
            outputs: [("ab", prediction.ab), ("loss", objective(prediction))],
            options: CompileOptions(threads: configuration.threads))
        try program.load(objective.variables)
    }

    /// The ranks take turns with batches, so that each photo is measured in the same company as by
    /// one process.
    ///
    /// - Returns: nil if `shouldStop` returned true in between, on any rank.
    func measure(
        _ weights: [String: TensorData], shouldStop: () -> Bool
    ) throws -> ValidationMetrics? {
        try program.load(weights)
        var measures: [PhotoMeasures] = []
        samples = []
        for start in stride(from: 0, to: crops.count, by: size * ranks.size) {
            let stops = shouldStop()
            let own = stops ? [] : try measureBatch(at: start + size * ranks.rank)
            let all = try ranks.gather(
                numbers: [stops ? 1 : 0] + own.flatMap(\.numbers))
            if all.contains(where: { $0[0] > 0 }) { return nil }
            measures += all.flatMap { PhotoMeasures.list($0.dropFirst()) }
        }
        try gatherSamples()
        return measures.metrics(values: crops[0].pixels.count)
    }

    /// Measures the photos of a batch.
    ///
    /// - Parameter start: its first photo; there may be none.
    private func measureBatch(at start: Int) throws -> [PhotoMeasures] {
        guard start < crops.count else { return [] }
        let part = Array(crops[start..<min(start + size, crops.count)])
        // The program's batch size is fixed: the padding of the last batch is not counted.
        let filled = part + [Image](repeating: part[0], count: size - part.count)
        var batch = Batch(filled)
        batch.addClasses(classes)
        let results = try program.run(batch.inputs)
        guard let ab = results["ab"], let loss = results["loss"] else { return [] }
        return try part.enumerated().map { index, crop in
            let estimate = crop.colored(batch.lightness, ab, index: index)
            if start + index < Self.sampleCount {
                samples.append(ValidationSample(photo: crop, estimate: estimate))
            }
            return try PhotoMeasures(crop, estimate, loss: loss.scalars[index])
        }
    }

    /// Gives rank 0 the samples of all.
    private func gatherSamples() throws {
        guard ranks.size > 1 else { return }
        var pixels = try ranks.gatherToFirst(samples.flatMap(\.estimate.pixels)).map { $0[...] }
        guard ranks.rank == 0 else { return }
        samples = crops.prefix(Self.sampleCount).enumerated().map { index, crop in
            let owner = index / size % ranks.size
            let estimate = Array(pixels[owner].prefix(crop.pixels.count))
            pixels[owner] = pixels[owner].dropFirst(crop.pixels.count)
            return ValidationSample(
                photo: crop,
                estimate: Image(width: crop.width, height: crop.height, pixels: estimate))
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
        let pixels = rgb(
            fromLab: LabPlanes(
                l: plane(lightness, index), a: plane(ab, 2 * index), b: plane(ab, 2 * index + 1)))
        return Image(width: width, height: height, pixels: pixels)
    }
}
