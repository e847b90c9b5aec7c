import RetintRuntime

/// Why models could not be compared: the file, the place in it, the rule and what to do.
public struct VerificationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What must be changed: the reference, the model, or the choice of the two.
    public enum Kind: Hashable, Sendable {
        /// The reference has no inputs or no outputs, or values that cannot be used.
        case badReference
        /// The inputs or outputs of the model are not those of the reference.
        case mismatch
        /// The model cannot be run on the inputs.
        case badModel
        /// A file does not contain saved results of a verification.
        case badResults
    }

    /// The kind of the error.
    public let kind: Kind
    /// The path of the reference file, the model or the saved results.
    public let path: String
    /// The place in the file, such as `outputs/ab`; empty for the whole file.
    public let place: String
    /// The violated rule, and what to do.
    public let problem: String

    init(_ kind: Kind, path: String, place: String = "", _ problem: String) {
        self.kind = kind
        self.path = path
        self.place = place
        self.problem = problem
    }

    /// The path, the place and the problem.
    public var description: String {
        [path, place, problem].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// Runs `body` and reports a model that cannot be run as a ``VerificationError``.
func verifying<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as ModelError {
        throw VerificationError(error)
    }
}

extension VerificationError {
    /// A model that does not fit the inputs, or cannot be run on them.
    init(_ error: ModelError) {
        let isMismatch = [.inputs, .notAColorizer].contains(error.kind)
        self.init(isMismatch ? .mismatch : .badModel, path: error.model, error.problem)
    }
}
