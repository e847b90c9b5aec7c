import Models

/// Why a comparison could not be made: the file, the place in it, the rule and the way out.
public struct VerificationError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// The reference file has no inputs or outputs, or numbers that are none.
        case badReference
        /// The model takes or gives something else than the reference holds.
        case mismatch
        /// The model cannot be run on the inputs.
        case badModel
    }

    public let kind: Kind
    /// The reference file or the model.
    public let path: String
    /// `outputs/ab`; empty where the whole file is meant.
    public let place: String
    public let problem: String

    init(_ kind: Kind, path: String, place: String = "", _ problem: String) {
        self.kind = kind
        self.path = path
        self.place = place
        self.problem = problem
    }

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
