public import RetintFiles

/// Why a training cannot start or go on.
///
/// Everything that this module finds wrong is a `TrainingError`. Errors of reading and writing
/// files, checkpoints and photos are passed on as they are.
public struct TrainingError: RemediableError, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: Hashable, Sendable {
        /// A `key=value` setting that cannot be used.
        case setting
        /// A configuration that cannot be used, alone or with its network, teacher or data.
        case configuration
        /// A folder without usable photos.
        case noPhotos
        /// The loss, its gradient or a weight is infinite or not a number.
        case notFinite
        /// The output folder already holds a run.
        case runExists
        /// There is no run to resume, or it does not fit the configuration.
        case cannotResume
        /// The ranks of a job do not train the same.
        case ranksDiffer
    }

    /// What went wrong.
    public let kind: Kind
    /// The file or key, the problem, and how to solve it.
    public let description: String
    /// The parameters that avoid the error, where there are any.
    public let remedies: [Remedy]

    init(_ kind: Kind, _ description: String, remedies: [Remedy] = []) {
        self.kind = kind
        self.description = description
        self.remedies = remedies
    }

    /// A configuration that cannot be used.
    ///
    /// - Parameter location: the file with the line ("train.yaml:12"), or the key.
    init(at location: String, _ problem: String) {
        self.init(.configuration, "\(location): \(problem)")
    }
}
