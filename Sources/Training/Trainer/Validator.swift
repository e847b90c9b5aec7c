import ColorScience
import Colorizers
import Engine
import ImageIO
import Retint
import TensorGraph

/// What a network achieves on photos that it was not trained on.
package struct ValidationMetrics: Hashable, Sendable, Codable {
    package var photos: Int
    package var loss: Double
    /// Of RGB, over the pixels of all photos together; nil if every one is right.
    package var psnr: Double?
    package var deltaE2000: Double
    /// Of the network's pictures, and of the photos themselves.
    package var colorfulness, photoColorfulness: Double

    enum CodingKeys: String, CodingKey {
        case photos, loss, colorfulness
        case psnr = "psnr_db"
        case deltaE2000 = "delta_e2000"
        case photoColorfulness = "photo_colorfulness"
    }
}

/// Measures weights on the centers of a fixed set of photos.
final class Validator {
    private let program: Program
    private let pictures: [Image]
    private let size: Int
    private let classes: ClassTargets?
    /// The first photos as the last measurement found them.
    private(set) var samples: [Sample] = []
    private static let sampleCount = 8
    let badPhotos: [ImageError]

    /// - Throws: ``TrainingError`` if no photo can be read.
    init(
        _ network: any ColorizerNetwork, _ configuration: TrainingConfiguration,
        photos: [PhotoReference],
        classes: ClassTargets? = nil
    ) throws {
        self.classes = classes
        // What counts is what the network does on its own.
        var configuration = configuration
        configuration.data.hints = false
        let side = configuration.data.crop
        let cache = PhotoCache(photos, shortSide: 2 * side, maximumBytes: 0)
        pictures = photos.indices.compactMap { index in
            cache.readablePhoto(index).map { Augmentation.center.apply(to: $0, side: side) }
        }
        badPhotos = cache.badPhotos
        guard !pictures.isEmpty else { throw cache.noPhotos }
        size = min(configuration.batch, pictures.count)
        let graph = Graph(mode: .inference)
        graph.weightRounding = configuration.quantization.rounding
        let objective = try Objective(network, configuration)
        let prediction = objective.prediction(graph, shape: [size, 1, side, side])
        program = try Program(
            outputs: [("ab", prediction.ab), ("loss", objective(prediction))],
            options: CompileOptions(threads: configuration.threads))
        try program.load(objective.variables)
    }

    /// - Returns: nil if `shouldStop` said so in between.
    func measure(
        _ weights: [String: TensorData], shouldStop: () -> Bool
    ) throws -> ValidationMetrics? {
        try program.load(weights)
        var sums = Sums()
        samples = []
        for start in stride(from: 0, to: pictures.count, by: size) {
            if shouldStop() { return nil }
            let part = Array(pictures[start..<min(start + size, pictures.count)])
            // The program's batch is fixed; what fills the last one up does not count.
            let filled = part + [Image](repeating: part[0], count: size - part.count)
            var batch = Batch(filled)
            batch.classify(classes)
            let results = try program.run(batch.inputs)
            guard let ab = results["ab"], let loss = results["loss"] else { continue }
            for (index, picture) in part.enumerated() {
                let estimate = try sums.add(
                    picture, batch, ab, index: index, loss: loss.scalars[index])
                guard samples.count < Self.sampleCount else { continue }
                samples.append(Sample(photo: picture, estimate: estimate))
            }
        }
        return try sums.metrics()
    }
}

/// What is gathered over the photos.
private struct Sums {
    private var count = 0
    private var (loss, difference, colorful, photoColorful) = (0.0, 0.0, 0.0, 0.0)
    private var (photos, estimates) = ([UInt8](), [UInt8]())

    /// - Returns: the photo as the network colors it.
    mutating func add(
        _ picture: Image, _ batch: Batch, _ ab: TensorData, index: Int, loss: Float
    ) throws -> Image {
        let pixels = picture.width * picture.height
        let plane = { (data: TensorData, number: Int) in
            Array(data.scalars[number * pixels..<(number + 1) * pixels])
        }
        let estimate = rgb(
            fromLab: LabPlanes(
                l: plane(batch.lightness, index), a: plane(ab, 2 * index),
                b: plane(ab, 2 * index + 1)))
        count += 1
        self.loss += Double(loss)
        difference += try meanDeltaE2000(lab(fromRGB: picture.pixels), lab(fromRGB: estimate))
        colorful += try ColorScience.colorfulness(ofRGB: estimate)
        photoColorful += try ColorScience.colorfulness(ofRGB: picture.pixels)
        photos += picture.pixels
        estimates += estimate
        return Image(width: picture.width, height: picture.height, pixels: estimate)
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
