public import RetintFiles
import RetintGraph
import RetintRuntime

/// Why models could not be compared: the file, the place in it, the rule and what to do.
///
/// Its file is the reference, the model or the saved results; a place is, say, `outputs/ab`.
public typealias VerificationError = Refusal<VerificationProblem>

/// What must be changed: the reference, the model, or the choice of the two.
public enum VerificationProblem: RefusalKind {
    /// The reference has no inputs or no outputs, or values that cannot be used.
    case badReference
    /// The inputs or outputs of the model are not those of the reference.
    case mismatch
    /// The model cannot be run on the inputs.
    case badModel
    /// A file does not contain saved results of a verification.
    case badResults

    /// The files'.
    public var fault: Fault { .input }
}

extension VerificationError {
    init(_ kind: Kind, path: String, place: String = "", _ problem: String) {
        self.init(kind, file: path, place: place, problem)
    }
}

/// Runs `body` and reports a model that cannot be run as a ``VerificationError``; not a device that
/// is missing.
func verifying<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as ModelError where error.kind != .device {
        throw VerificationError(error)
    } catch let error as GraphError where error.kind.device == nil {
        throw VerificationError(.badModel, path: "", "\(error)")
    }
}

extension VerificationError {
    /// A model that does not fit the inputs, or cannot be run on them.
    init(_ error: ModelError) {
        let isMismatch = [.inputs, .notAColorizer].contains(error.kind)
        self.init(isMismatch ? .mismatch : .badModel, path: error.file, error.problem)
    }
}
