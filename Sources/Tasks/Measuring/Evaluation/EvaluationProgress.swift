public import RetintFiles
import RetintImages
import RetintPhotoData

extension EvaluationReport {
    /// The progress of an evaluation: first all photos are read, then the model colors each of
    /// them.
    ///
    /// Both begin with a count of 0.
    public enum Progress: Sendable {
        /// The number of photos that were read, including those that cannot be read. With several
        /// ranks, the others are assumed to be as far as the rank that reports this.
        case read(photos: Int, total: Int)
        /// A photo cannot be read and is skipped.
        case failed(EvaluationReport.Failure)
        /// The number of photos that the model has colored.
        case colored(photos: Int, total: Int)
    }
}

extension EvaluationReport {
    /// A photo that the model colored during an evaluation.
    public struct ColoredPhoto: Sendable {
        /// The original photo.
        public let photo: PhotoReference
        /// Its index among the photos of the evaluation, from 0.
        public let index: Int
        /// The original at the network's size.
        public let original: Image
        /// The image with the model's colors.
        public let colored: Image
        /// The quality of the model's colors.
        public let quality: EvaluationReport.ColorQuality
    }
}

/// None of the photos of an evaluation can be read, or there are no photos.
public struct EvaluationError: RetintError {
    /// The reason for each photo.
    public let failures: [EvaluationReport.Failure]
    /// That of all photos.
    public var fault: Fault { Fault(ofAll: failures.map(\.error)) }
    /// None: other photos are needed.
    public let remedies: [Remedy] = []

    /// The number of photos that failed, and the first one's error; ``failures`` has all of them.
    public var description: String {
        guard let first = failures.first else {
            return "there are no photos to evaluate a model on; name some photos"
        }
        return "none of \(failures.count) photos could be evaluated; the first: \(first.error)"
    }
}
