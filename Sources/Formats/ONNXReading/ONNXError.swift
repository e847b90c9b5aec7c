public import RetintFiles

/// Why an ONNX file cannot be read or run: the file, the place in it, the broken rule and
/// what to do about it.
///
/// The file is empty for a network that a checkpoint holds; a place is, for example,
/// `node "/model1/Conv" (Conv)`.
public typealias ONNXError = Refusal<ONNXProblem>

/// What is refused of an ONNX file.
public enum ONNXProblem: RefusalKind {
    /// The file is damaged, or has something that is not supported.
    case unusable

    /// The file's.
    public var fault: Fault { .input }
}

extension ONNXError {
    package init(
        file: String = "", place: String = "", rule: String, remedy: String = Self.damaged
    ) {
        self.init(.unusable, file: file, place: place, rule: rule, remedy: remedy)
    }

    package static var damaged: String {
        "The file is damaged or incomplete: export the network again."
    }

    package static var unsupported: String { "Export the network without it." }
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
