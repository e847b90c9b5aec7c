import TensorFiles

/// Why a checkpoint or a file of weights was refused: the file, the rule and the way out.
public struct CheckpointError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// An HDF5 file, but not a checkpoint.
        case notACheckpoint
        /// Written by a version of retint that is newer than this one.
        case newerFormat
        /// An attribute or tensor is not of the type that a checkpoint gives it.
        case malformed
        /// The tensors are not those of the architecture.
        case mismatch(LoadReport)
        /// Checkpoints that belong together are not of one network.
        case differentNetworks
        /// The architecture has no such option, or not of that value.
        case badOption
    }

    public let kind: Kind
    /// The file; nil where the error is about options alone.
    public let path: String?
    public let problem: String

    init(_ kind: Kind, path: String? = nil, problem: String) {
        self.kind = kind
        self.path = path
        self.problem = problem
    }

    public var description: String { path.map { "\($0): \(problem)" } ?? problem }
}

extension CheckpointError {
    static func mismatch(_ report: LoadReport, path: String, architecture: String) -> Self {
        CheckpointError(
            .mismatch(report), path: path,
            problem: "the tensors are not those of \(architecture): \(report)")
    }
}
