/// Why a training cannot start or go on.
package struct TrainingError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// A folder without photos that can be used.
        case noPhotos
        /// The loss, its gradient or a weight is infinite or not a number.
        case notFinite
        /// There is a run at the output already.
        case runExists
        /// There is nothing to resume, or it does not fit the configuration.
        case cannotResume
    }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
