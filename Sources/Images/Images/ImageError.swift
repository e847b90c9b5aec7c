import RetintFiles

/// Why an image could not be read or written, and what to do about it.
public struct ImageError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The kind of failure, for programs that handle some of them.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The file cannot be opened or read.
        case file
        /// The file cannot be written; an existing one is unchanged.
        case unwritable
        /// The format is not supported.
        case format
        /// The image exceeds one of the `ImageLimits`.
        case limit
        /// The file is damaged, incomplete, or uses a feature that the decoder lacks.
        case damaged
    }

    /// The kind of failure.
    public let kind: Kind
    /// The path of the file, or the name given for data in memory.
    public let file: String
    /// What is wrong.
    public let problem: String
    /// What to do about it.
    public let remedy: String

    /// `file: problem; remedy`.
    public var description: String { "\(file): \(problem); \(remedy)" }

    init(_ kind: Kind, _ file: String, _ problem: String, remedy: String) {
        self.kind = kind
        self.file = file
        self.problem = problem
        self.remedy = remedy
    }

    /// A file in a format of another module that contains images is damaged.
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
