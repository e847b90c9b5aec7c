public import RetintFiles

/// The reason a network cannot be converted to a Core ML package, or a package cannot be run: the
/// location, the violated rule, and what to do.
public struct ConversionError: RemediableError, Hashable, Sendable, CustomStringConvertible {
    /// What must be changed to avoid the error.
    public enum Cause: Hashable, Sendable {
        /// An option that the model does not support.
        case option
        /// The model: it contains something that cannot be converted.
        case model
    }

    /// What must be changed: an option or the model.
    public var cause = Cause.model
    /// The path of the file; empty if none is involved.
    public var file: String
    /// The location, for example `operation 12 (conv, "conv_0")` or `tensor model1.0.weight`.
    public let place: String
    /// What is wrong.
    public let rule: String
    /// How to avoid the error, as a sentence.
    public let remedy: String
    /// Parameters that would avoid the error.
    public var remedies: [Remedy] = []

    /// Creates an error whose cause is the model.
    public init(file: String = "", place: String, rule: String, remedy: String) {
        self.file = file
        self.place = place
        self.rule = rule
        self.remedy = remedy
    }

    /// `file: place: rule. remedy`, without empty parts.
    public var description: String {
        [file, place, rule].filter { !$0.isEmpty }.joined(separator: ": ") + ". " + remedy
    }
}
