public import Files

/// Why a network cannot be written as a Core ML package, or a package cannot be run: the location,
/// the rule that is broken, and the remedy.
public struct ConversionError: RemediableError, Hashable, Sendable, CustomStringConvertible {
    /// What has to change.
    public enum Cause: Hashable, Sendable {
        /// An option that does not fit the model.
        case option
        /// The model, which holds something that cannot be converted.
        case model
    }

    public var cause = Cause.model
    /// The file, where one is concerned.
    public var file: String
    /// For example `operation 12 (conv, "conv_0")` or `tensor model1.0.weight`.
    public let place: String
    /// What is wrong.
    public let rule: String
    /// What would avoid the error, as a sentence.
    public let remedy: String
    /// Parameters that would avoid the error.
    public var remedies: [Remedy] = []

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
