/// Why a model cannot be used as a colorizer: which model, the rule, and the way out.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// The file is neither a checkpoint nor a package.
        case unknownFormat
        /// The package takes or gives something else than lightness and color.
        case notAColorizer
        /// The model does not run at the size that was asked for.
        case size
    }

    public let kind: Kind
    /// The path of the model, or its name in the registry.
    public let model: String
    public let problem: String

    init(_ kind: Kind, _ model: String, _ problem: String) {
        self.kind = kind
        self.model = model
        self.problem = problem
    }

    public var description: String { "\(model): \(problem)" }
}
