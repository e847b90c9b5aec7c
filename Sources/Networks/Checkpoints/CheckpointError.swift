public import RetintFiles
import RetintTensorFiles

/// Why a checkpoint or a weights file was refused: the file, the rule and what to do.
///
/// There is no file for an error in options alone.
public typealias CheckpointError = Refusal<CheckpointProblem>

/// What is refused of a checkpoint.
public enum CheckpointProblem: RefusalKind {
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

    /// The caller chose the options; all else is in the file.
    public var fault: Fault { self == .badOption ? .usage : .input }
}

extension CheckpointError {
    init(_ kind: Kind, path: String? = nil, problem: String) {
        self.init(kind, file: path ?? "", problem)
    }

    static func mismatch(_ report: LoadReport, path: String, architecture: String) -> Self {
        CheckpointError(
            .mismatch(report), path: path,
            problem: "the tensors are not those of \(architecture): \(report)")
    }
}
