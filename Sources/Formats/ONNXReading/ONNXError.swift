/// Why an ONNX file cannot be read or run: the file, the place in it, the broken rule and
/// what to do about it.
public struct ONNXError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file; empty for a network in a checkpoint.
    public package(set) var file: String
    /// The place in the file, for example `node "/model1/Conv" (Conv)`; empty where the file as
    /// a whole is meant.
    public let place: String
    /// The rule that is broken.
    public let rule: String
    /// How to fix it, as a sentence.
    public let remedy: String

    package init(
        file: String = "", place: String = "", rule: String, remedy: String = Self.damaged
    ) {
        (self.file, self.place, self.rule, self.remedy) = (file, place, rule, remedy)
    }

    /// `file: place: rule. remedy`, without empty parts.
    public var description: String {
        [file, place, rule].filter { !$0.isEmpty }.joined(separator: ": ") + ". " + remedy
    }

    package static let damaged = "The file is damaged or incomplete: export the network again."
    package static let unsupported = "Export the network without it."
}

/// Runs `body`; its errors name `file`.
package func naming<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch var error as ONNXError {
        error.file = file
        throw error
    }
}
