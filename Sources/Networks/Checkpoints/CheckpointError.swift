import RetintTensorFiles

/// Why a checkpoint or a weights file was refused: the file, the rule and what to do.
public struct CheckpointError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The violated rule.
    public enum Kind: Hashable, Sendable {
        /// An HDF5 file, but not a checkpoint.
        case notACheckpoint
        /// Written by a version of retint that is newer than this one.
        case newerFormat
        /// An attribute or tensor has another type than in a checkpoint.
        case malformed
        /// The tensors are not those of the architecture.
        case mismatch(LoadReport)
        /// Checkpoints to be averaged are not of the same network.
        case differentNetworks
        /// There is no checkpoint to be averaged.
        case badOption
    }

    /// The violated rule.
    public let kind: Kind
    /// The file; nil for an error in options only.
    public let path: String?
    /// The problem, and what to do.
    public let problem: String

    init(_ kind: Kind, path: String? = nil, problem: String) {
        self.kind = kind
        self.path = path
        self.problem = problem
    }

    /// `path: problem`, or only the problem if there is no file.
    public var description: String { path.map { "\($0): \(problem)" } ?? problem }
}

extension CheckpointError {
    static func mismatch(_ report: LoadReport, path: String, architecture: String) -> Self {
        CheckpointError(
            .mismatch(report), path: path,
            problem: "the tensors are not those of \(architecture): \(report)")
    }
}
