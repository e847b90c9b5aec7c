/// Why a model cannot be run: the model, the violated rule, and what to do.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of problem.
    public enum Kind: Hashable, Sendable {
        /// The package does not map lightness to colors.
        case notAColorizer
        /// The model does not run at the requested size.
        case size
        /// The inputs are not those of the model.
        case inputs
        /// The model returns colors of another size than its input.
        case outputSize
        /// The colors contain NaN or infinity.
        case nonFinite
        /// The model's program is damaged or uses an operation that is not supported.
        case notRunnable
    }

    /// The kind of the error.
    public let kind: Kind
    /// The path of the model, or the name of its architecture.
    public let model: String
    /// The violated rule, and what to do.
    public let problem: String

    package init(_ kind: Kind, _ model: String, _ problem: String) {
        self.kind = kind
        self.model = model
        self.problem = problem
    }

    /// The model and the problem.
    public var description: String { "\(model): \(problem)" }
}
