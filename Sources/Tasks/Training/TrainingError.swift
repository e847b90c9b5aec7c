public import RetintFiles

/// Why training cannot start or continue.
///
/// Every error of this module is a `TrainingError`. Errors of reading and writing
/// files, checkpoints and photos are passed on unchanged.
public struct TrainingError: RemediableError, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: Hashable, Sendable {
        /// An invalid `key=value` setting.
        case setting
        /// A configuration that is invalid, by itself or with its network, teacher or data.
        case configuration
        /// A folder without usable photos.
        case noPhotos
        /// The loss, its gradient or a weight is infinite or not a number.
        case notFinite
        /// The output folder already contains a run.
        case runExists
        /// There is no run to resume, or it does not fit the configuration.
        case cannotResume
        /// The ranks of a job would train differently.
        case ranksDiffer
    }

    /// What went wrong.
    public let kind: Kind
    /// The file or key, the problem, and how to solve it.
    public let description: String
    /// The parameters that avoid the error, if there are any.
    public let remedies: [Remedy]

    init(_ kind: Kind, _ description: String, remedies: [Remedy] = []) {
        self.kind = kind
        self.description = description
        self.remedies = remedies
    }

    /// An invalid configuration.
    ///
    /// - Parameter location: the file with the line ("train.yaml:12"), or the key.
    init(at location: String, _ problem: String) {
        self.init(.configuration, "\(location): \(problem)")
    }
}
