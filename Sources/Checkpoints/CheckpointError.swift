import TensorFiles

/// A checkpoint or a file of weights that was refused: the file, the rule and the way out.
public struct CheckpointError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rule that is broken.
    public enum Kind: Hashable, Sendable {
        /// An HDF5 file, but not a checkpoint.
        case notACheckpoint
        /// Written by a version of retint that is newer than this one.
        case newerFormat
        /// An attribute or tensor has another type than in a checkpoint.
        case malformed
        /// The tensors are not those of the architecture.
        case mismatch(LoadReport)
        /// Checkpoints to be averaged are not of one network.
        case differentNetworks
        /// There is no checkpoint to be averaged.
        case badOption
    }

    /// The rule that is broken.
    public let kind: Kind
    /// The file; nil for an error in options alone.
    public let path: String?
    /// The problem and the way out, in words.
    public let problem: String

    init(_ kind: Kind, path: String? = nil, problem: String) {
        self.kind = kind
        self.path = path
        self.problem = problem
    }

    /// `path: problem`, or the problem alone if no file is meant.
    public var description: String { path.map { "\($0): \(problem)" } ?? problem }
}

extension CheckpointError {
    static func mismatch(_ report: LoadReport, path: String, architecture: String) -> Self {
        CheckpointError(
            .mismatch(report), path: path,
            problem: "the tensors are not those of \(architecture): \(report)")
    }
}
