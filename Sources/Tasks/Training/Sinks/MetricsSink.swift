import RetintImages
import RetintPhotoData

/// A destination for the metrics of a training run.
protocol MetricsSink {
    func append(_ record: MetricsRecord) throws
    /// Adds the results of a validation.
    ///
    /// - Parameter weights: the trained parameters by name.
    func append(_ samples: [ValidationSample], weights: [String: [Float]], step: Int) throws
}

extension MetricsSink {
    func append(_ samples: [ValidationSample], weights: [String: [Float]], step: Int) throws {}
}

/// A validation photo and the network's colors for it.
struct ValidationSample {
    let photo: Image
    let estimate: Image

    /// Gray input, estimate and photo, side by side.
    var strip: Image {
        Image.sideBySide([photo.gray, estimate, photo], gap: 2)
    }
}
