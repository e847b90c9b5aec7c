import ColorScience
import Colorizers
import ImageIO
import TensorGraph

/// How colors become the targets of a classification.
struct ClassTargets: Sendable {
    let bins: ABBins
    /// The pixels, each way, that one distribution stands for: the first of them counts.
    let stride: Int
    let neighbors: Int
    let sigma: Float
    /// A factor for each bin; nil: all count alike.
    let weights: [Float]?
    /// Where no |a| or |b| is above this, a picture counts as gray and does not teach.
    static let grayBound: Float = 5

    /// Soft-coded colors, and what each place counts.
    ///
    /// - Parameter target: a and b divided by 110, [N, 2, H, W].
    /// - Returns: `classes`, [N, bins, H/stride, W/stride], and `class_weights`, [N, 1, …].
    func inputs(for target: TensorData) -> [String: TensorData] {
        let (count, height, width) = (target.shape[0], target.shape[2], target.shape[3])
        let (rows, columns) = (height / stride, width / stride)
        let places = rows * columns
        var classes = [Float](repeating: 0, count: count * bins.count * places)
        var factors = [Float](repeating: 1, count: count * places)
        for example in 0..<count {
            let a = example * 2 * height * width
            let b = a + height * width
            let isGray = target.scalars[a..<(b + height * width)].allSatisfy {
                abs($0) * Batch.abScale <= Self.grayBound
            }
            for place in 0..<places {
                let pixel = place / columns * stride * width + place % columns * stride
                let code = bins.softCode(
                    a: target.scalars[a + pixel] * Batch.abScale,
                    b: target.scalars[b + pixel] * Batch.abScale, count: neighbors, sigma: sigma)
                for (bin, weight) in zip(code.bins, code.weights) {
                    classes[(example * bins.count + bin) * places + place] = weight
                }
                factors[example * places + place] = isGray ? 0 : weights?[code.bins[0]] ?? 1
            }
        }
        return [
            "classes": TensorData(shape: [count, bins.count, rows, columns], scalars: classes),
            "class_weights": TensorData(shape: [count, 1, rows, columns], scalars: factors),
        ]
    }
}

extension ClassTargets {
    /// The prior is taken of at most so many photos.
    private static let priorPhotos = 1000

    /// What a network classifies over; nil if it is not trained so.
    ///
    /// - Parameter photos: those to train on, of which the prior of colors is taken.
    init?(
        _ network: any ColorizerNetwork, _ configuration: TrainingConfiguration, photos: PhotoCache
    ) {
        guard configuration.loss.classifies, let classifier = network as? any ColorClassifier else {
            return nil
        }
        let type = type(of: classifier)
        (bins, stride) = (type.bins, type.binStride)
        neighbors = min(configuration.loss.neighbors, bins.count)
        sigma = Float(configuration.loss.sigma)
        weights = configuration.loss.rebalance.map { lambda in
            ColorPrior(Self.colors(photos, configuration.data.crop), bins: type.bins)
                .weights(lambda: lambda)
        }
    }

    /// Every eighth pixel, each way, of the middle of photos.
    private static func colors(_ photos: PhotoCache, _ side: Int) -> [(a: Float, b: Float)] {
        let step = max(photos.paths.count / priorPhotos, 1)
        return Swift.stride(from: 0, to: photos.paths.count, by: step).flatMap { index in
            guard let photo = photos.readablePhoto(index) else { return [(a: Float, b: Float)]() }
            let picture = Augmentation.center.apply(to: photo, side: side)
            let places = Swift.stride(from: 0, to: side, by: 8).flatMap { row in
                Swift.stride(from: 0, to: side, by: 8).map { 3 * (row * side + $0) }
            }
            let planes = lab(fromRGB: places.flatMap { picture.pixels[$0..<($0 + 3)] })
            return zip(planes.a, planes.b).map { ($0, $1) }
        }
    }
}
