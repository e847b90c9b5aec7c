/// Why a network cannot be written as a Core ML package, or a package cannot be run: the place, the
/// rule that is broken, and the way out.
public struct ConversionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Who can set it right.
    public enum Cause: Hashable, Sendable {
        /// An option was chosen that does not go with the model.
        case option
        /// The model itself holds what cannot be converted.
        case model
    }

    public var cause = Cause.model
    /// The file, where one is concerned.
    public var file: String
    /// For example `operation 12 (conv, "conv_0")` or `tensor model1.0.weight`.
    public let place: String
    /// What is wrong, said by what would be right.
    public let rule: String
    /// What the reader of the message can do.
    public let remedy: String

    public init(file: String = "", place: String, rule: String, remedy: String) {
        self.file = file
        self.place = place
        self.rule = rule
        self.remedy = remedy
    }

    public var description: String {
        [file, place, rule].filter { !$0.isEmpty }.joined(separator: ": ") + ". " + remedy
    }
}
