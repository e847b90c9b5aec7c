public import RetintFiles

/// Why an image could not be read or written, and what to do about it.
/// Its file is the path, or the name given for data in memory.
public typealias ImageError = Refusal<ImageProblem>

/// What is refused of an image.
public enum ImageProblem: String, RefusalKind, Codable {
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

    /// The system keeps a file from being written; all else is in the file.
    public var fault: Fault { self == .unwritable ? .failure : .input }
}

extension ImageError {
    init(_ kind: Kind, _ file: String, _ rule: String, remedy: String) {
        self.init(kind, file: file, rule: rule, remedy: remedy)
    }

    /// A file in a format of another module that contains images is damaged.
    package static func damaged(_ file: String, _ problem: String) -> ImageError {
        ImageError(.damaged, file, problem, remedy: "make the file again")
    }

    init(_ error: FileError) {
        self.init(
            error.operation == "read" ? .file : .unwritable, error.file,
            "cannot \(error.operation): \(error.reason)",
            remedy: error.remedy.isEmpty ? "try another file" : error.remedy)
    }
}
