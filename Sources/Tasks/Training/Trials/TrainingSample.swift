import RetintArchitectures
import RetintColor
import RetintGraph
public import RetintImages
import RetintTensors

/// An example of the network's input and target.
public struct TrainingSample: Hashable, Sendable {
    /// The input lightness, in gray.
    public let input: Image
    /// The target colors, with the lightness before damage.
    public let target: Image
}

extension Trainer {
    /// The first examples of a training run, to look at: crops after all augmentations.
    ///
    /// - Parameter count: the number of examples.
    /// - Throws: ``TrainingError`` if a value is out of range or there are no photos to train on;
    ///   the errors of reading photos and cut-outs.
    public static func samples(
        of configuration: TrainingConfiguration, count: Int = 24
    ) throws -> [TrainingSample] {
        try configuration.requireValuesInRange()
        let photos = try PhotoFolder(configuration.data)
        let cache = PhotoCache(photos.training, configuration.data)
        let source = try BatchSource(cache, configuration.batchOptions)
        var samples: [TrainingSample] = []
        while samples.count < count {
            samples += try source.batch(step: samples.count / configuration.batch).samples
        }
        return Array(samples.prefix(max(count, 0)))
    }
}

extension Batch {
    fileprivate var samples: [TrainingSample] {
        (0..<lightness.shape[0]).map { example in
            return TrainingSample(
                input: image(lightness, example, factor: 0),
                target: image(undamagedLightness, example, factor: LabScaling.colorRange))
        }
    }

    /// An example as an image.
    ///
    /// - Parameter factor: a factor for a and b.
    private func image(_ lightness: TensorData, _ example: Int, factor: Float) -> Image {
        let (height, width) = (lightness.shape[2], lightness.shape[3])
        let area = height * width
        func color(_ channel: Int) -> [Float] {
            let start = (2 * example + channel) * area
            return target.scalars[start..<start + area].map { $0 * factor }
        }
        let planes = LabPlanes(
            l: Array(lightness.scalars[example * area..<(example + 1) * area]), a: color(0),
            b: color(1))
        return Image(width: width, height: height, pixels: planes.rgb())
    }
}
