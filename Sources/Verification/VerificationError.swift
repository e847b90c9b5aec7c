/// Why a comparison could not be made: the file, the place in it, the rule and the way out.
package struct VerificationError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The reference file has no inputs or outputs, or numbers that are none.
        case badReference
        /// The model takes or gives something else than the reference holds.
        case mismatch
        /// The model cannot be run on the inputs.
        case badModel
    }

    package let kind: Kind
    /// The reference file or the model.
    package let path: String
    /// `outputs/ab`; empty where the whole file is meant.
    package let place: String
    package let problem: String

    init(_ kind: Kind, path: String, place: String = "", _ problem: String) {
        self.kind = kind
        self.path = path
        self.place = place
        self.problem = problem
    }

    package var description: String {
        [path, place, problem].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
