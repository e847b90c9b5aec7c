import RetintArchitectures
import RetintColor
import RetintGraph
import RetintImages
import RetintTensors

/// Soft-encodes colors as the targets of a classification over ab bins.
struct ClassTargets: Hashable, Sendable {
    let bins: ABBins
    /// The side of the square of pixels that share the distribution of the first of them.
    let stride: Int
    /// The number of bins that a color is spread over.
    let neighbors: Int
    /// The standard deviation of that spread, in units of ab.
    let sigma: Float
    /// A weight for each bin; nil: all weights are 1.
    let weights: [Float]?
    /// An additional weight of nearly gray pixels.
    let neutral: TrainingConfiguration.NeutralWeight
    /// An image without |a| or |b| above this counts as gray; its weight is 0.
    static let grayBound: Float = 5

    /// Soft-encoded colors with their weights.
    ///
    /// - Parameter target: a and b divided by 110, [N, 2, H, W].
    /// - Returns: classes, [N, bins, H/stride, W/stride], and their weights, [N, 1, …].
    func inputs(for target: TensorData) -> [StepInput: TensorData] {
        let (count, height, width) = (target.shape[0], target.shape[2], target.shape[3])
        let (rows, columns) = (height / stride, width / stride)
        let area = rows * columns
        var classes = [Float](repeating: 0, count: count * bins.count * area)
        var classWeights = [Float](repeating: 1, count: count * area)
        var coder = SoftCoder(bins, count: neighbors, sigma: sigma)
        for example in 0..<count {
            let a = example * 2 * height * width
            let b = a + height * width
            let isGray = target.scalars[a..<(b + height * width)].allSatisfy {
                abs($0) * LabScaling.colorRange <= Self.grayBound
            }
            for cell in 0..<area {
                let pixel = cell / columns * stride * width + cell % columns * stride
                let (trueA, trueB) = (target.scalars[a + pixel], target.scalars[b + pixel])
                coder.encode(
                    a: trueA * LabScaling.colorRange, b: trueB * LabScaling.colorRange)
                for (bin, weight) in zip(coder.bins, coder.weights) {
                    classes[(example * bins.count + bin) * area + cell] = weight
                }
                let weight = weights?[coder.bins[0]] ?? 1
                let factor = 1 + neutral(a: trueA, b: trueB)
                classWeights[example * area + cell] = isGray ? 0 : weight * factor
            }
        }
        return [
            .classes: TensorData(shape: [count, bins.count, rows, columns], scalars: classes),
            .classWeights: TensorData(shape: [count, 1, rows, columns], scalars: classWeights),
        ]
    }
}

extension ClassTargets {
    /// The largest number of photos that the prior is computed from.
    private static let maximumPriorPhotos = 1000

    /// The targets of a network; nil if it is not trained to classify.
    ///
    /// - Parameters:
    ///   - photos: the training photos, which the prior of colors is computed from.
    ///   - side: of their center crops, in pixels.
    init?(
        _ network: any ColorizerNetwork, _ loss: TrainingConfiguration.LossSettings,
        photos: PhotoCache, side: Int
    ) {
        guard loss.classifies, let classifier = network as? any ColorClassifier else { return nil }
        let type = type(of: classifier)
        (bins, stride) = (type.bins, type.binStride)
        neighbors = min(loss.classification.neighbors, bins.count)
        sigma = Float(loss.classification.sigma)
        neutral = loss.neutral
        weights = loss.classification.rebalance.map { lambda in
            ColorPrior(Self.colors(photos, side), bins: type.bins).weights(lambda: lambda)
        }
    }

    /// The colors of every eighth pixel, along both axes, of the center crops of photos.
    private static func colors(_ photos: PhotoCache, _ side: Int) -> [(a: Float, b: Float)] {
        let step = max(photos.paths.count / maximumPriorPhotos, 1)
        return Swift.stride(from: 0, to: photos.paths.count, by: step).flatMap { index in
            guard let photo = photos.readablePhoto(index) else { return [(a: Float, b: Float)]() }
            let crop = Augmentation.center.apply(to: photo, side: side)
            let offsets = Swift.stride(from: 0, to: side, by: 8).flatMap { row in
                Swift.stride(from: 0, to: side, by: 8).map { 3 * (row * side + $0) }
            }
            let planes = lab(fromRGB: offsets.flatMap { crop.pixels[$0..<($0 + 3)] })
            return zip(planes.a, planes.b).map { ($0, $1) }
        }
    }
}

/// The frequency of each ab bin, and the weights that rebalance rare ones (Zhang et al., "Colorful
/// Image Colorization", 2016, section 2.2).
struct ColorPrior: Hashable, Sendable {
    /// The share of each bin, soft-encoded like the targets; the sum is 1.
    let shares: [Float]

    /// - Parameter colors: a and b of pixels.
    init(_ colors: some Sequence<(a: Float, b: Float)>, bins: ABBins) {
        var sums = [Double](repeating: 0, count: bins.count)
        var count = 0.0
        for color in colors {
            let code = bins.softCode(a: color.a, b: color.b)
            for (bin, weight) in zip(code.bins, code.weights) { sums[bin] += Double(weight) }
            count += 1
        }
        shares = sums.map { Float($0 / max(count, 1)) }
    }

    /// A factor for each bin: w ∝ 1/((1 − λ)·p + λ/Q), scaled so that Σ p·w = 1.
    ///
    /// - Parameter lambda: λ; 1 gives all bins the same weight.
    func weights(lambda: Double) -> [Float] {
        let uniform = 1 / Double(shares.count)
        let raw = shares.map { 1 / ((1 - lambda) * Double($0) + lambda * uniform) }
        let mean = zip(shares, raw).reduce(0) { $0 + Double($1.0) * $1.1 }
        return raw.map { Float($0 / mean) }
    }
}
