import Files

/// A picture that could not be read or written: which one, why, and what to do about it.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// The file cannot be opened or read.
        case file
        /// The file cannot be written; what stood there before still stands.
        case unwritable
        /// The file is not a picture in a format that is read or written here.
        case format
        /// The picture passes one of the `ImageLimits`.
        case limit
        /// The file is damaged, incomplete, or uses what the decoder does not know.
        case damaged
    }

    public let kind: Kind
    /// The path, or the name that stands for one.
    public let file: String
    public let problem: String
    public let remedy: String

    public var description: String { "\(file): \(problem); \(remedy)" }

    init(_ kind: Kind, _ file: String, _ problem: String, remedy: String) {
        self.kind = kind
        self.file = file
        self.problem = problem
        self.remedy = remedy
    }

    /// Something else that holds a picture is not as it should be.
    package static func damaged(_ file: String, _ problem: String) -> ImageError {
        ImageError(.damaged, file, problem, remedy: "make the file again")
    }

    init(_ error: FileError) {
        self.init(
            error.operation == "read" ? .file : .unwritable, error.path,
            "cannot \(error.operation): \(error.reason)",
            remedy: error.remedy.isEmpty ? "try another file" : error.remedy)
    }
}
