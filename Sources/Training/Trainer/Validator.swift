import ColorScience
import Colorizers
import Engine
import ImageIO
import Models
import Photos
import TensorGraph

/// Measures weights on the center crops of a fixed set of photos.
final class Validator {
    private let program: Program
    private let crops: [Image]
    private let size: Int
    private let classes: ClassTargets?
    /// The first crops with the colors of the last measurement.
    private(set) var samples: [ValidationSample] = []
    private static let sampleCount = 8
    let badPhotos: [ImageError]

    /// - Throws: ``TrainingError`` if no photo can be read.
    init(
        _ network: any ColorizerNetwork, _ configuration: TrainingConfiguration,
        photos: [PhotoReference],
        classes: ClassTargets? = nil
    ) throws {
        self.classes = classes
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

    /// - Returns: nil if `shouldStop` returned true in between.
    func measure(
        _ weights: [String: TensorData], shouldStop: () -> Bool
    ) throws -> ValidationMetrics? {
        try program.load(weights)
        var sums = Sums()
        samples = []
        for start in stride(from: 0, to: crops.count, by: size) {
            if shouldStop() { return nil }
            let part = Array(crops[start..<min(start + size, crops.count)])
            // The program's batch size is fixed: the padding of the last batch is not counted.
            let filled = part + [Image](repeating: part[0], count: size - part.count)
            var batch = Batch(filled)
            batch.addClasses(classes)
            let results = try program.run(batch.inputs)
            guard let ab = results["ab"], let loss = results["loss"] else { continue }
            for (index, crop) in part.enumerated() {
                let estimate = try sums.add(
                    crop, batch, ab, index: index, loss: loss.scalars[index])
                guard samples.count < Self.sampleCount else { continue }
                samples.append(ValidationSample(photo: crop, estimate: estimate))
            }
        }
        return try sums.metrics()
    }
}

/// Sums over the photos.
private struct Sums {
    private var count = 0
    private var (loss, difference, colorful, photoColorful) = (0.0, 0.0, 0.0, 0.0)
    private var (photos, estimates) = ([UInt8](), [UInt8]())

    /// - Returns: the crop with the estimated colors.
    mutating func add(
        _ crop: Image, _ batch: Batch, _ ab: TensorData, index: Int, loss: Float
    ) throws -> Image {
        let pixels = crop.width * crop.height
        let plane = { (data: TensorData, channel: Int) in
            Array(data.scalars[channel * pixels..<(channel + 1) * pixels])
        }
        let estimate = rgb(
            fromLab: LabPlanes(
                l: plane(batch.lightness, index), a: plane(ab, 2 * index),
                b: plane(ab, 2 * index + 1)))
        count += 1
        self.loss += Double(loss)
        difference += try meanDeltaE2000(lab(fromRGB: crop.pixels), lab(fromRGB: estimate))
        colorful += try ColorScience.colorfulness(ofRGB: estimate)
        photoColorful += try ColorScience.colorfulness(ofRGB: crop.pixels)
        photos += crop.pixels
        estimates += estimate
        return Image(width: crop.width, height: crop.height, pixels: estimate)
    }

    func metrics() throws -> ValidationMetrics {
        let ratio = try ColorScience.psnr(photos, estimates)
        let total = Double(count)
        return ValidationMetrics(
            photos: count, loss: loss / total, psnr: ratio.isFinite ? ratio : nil,
            deltaE2000: difference / total, colorfulness: colorful / total,
            photoColorfulness: photoColorful / total)
    }
}
