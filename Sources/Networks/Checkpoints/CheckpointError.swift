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
            problem: report.missing.count == report.expectedCount
                ? report.ofAnotherNetwork(than: architecture)
                : "the tensors are not those of \(architecture): \(report)"
                    + advice(report))
    }

    private static func advice(_ report: LoadReport) -> String {
        if report.unexpected.isEmpty || !report.misshaped.isEmpty {
            return "\n  the file may be of this architecture with other options, such as width or "
                + "depth"
        }
        return report.missing.isEmpty
            ? "\n  all others fit: `retint import --non-strict` leaves these out" : ""
    }
}

extension LoadReport {
    /// The message for a file that has no tensor of a network.
    fileprivate func ofAnotherNetwork(than architecture: String) -> String {
        let names = unexpected
        let examples = names.map { "\($0.name) \($0.shape)" }.listed()
        return """
            has none of the \(expectedCount) tensors of \(architecture).
              it has: \(examples.isEmpty ? "none" : examples)
              name the architecture that it is of; for a network of your own, write an ONNX file:
              torch.onnx.export(network.eval(), x, "network.onnx", dynamo=False, \
            training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
              retint export network.onnx -o network.mlpackage
              retint import network.onnx -o network.h5  # a colorizer, to train it
            """
    }
}
