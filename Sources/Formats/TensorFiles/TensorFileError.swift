public import RetintFiles

/// Why a file of tensors could not be read or written: the file, the object in it and the problem.
///
/// Its place is the dataset, group or attribute in the file.
public typealias TensorFileError = Refusal<TensorFileProblem>

/// What is refused of a file of tensors.
public enum TensorFileProblem: RefusalKind, Codable {
    /// The file does not exist, is a folder or may not be read.
    case unreadable
    /// The file has another format, or the layout of another program.
    case otherFormat
    /// The file is incomplete or inconsistent.
    case damaged
    /// The file needs something that is not allowed for untrusted files: following a link to
    /// another file, a filter plug-in, more memory than the limits allow.
    case refused
    /// The file has no tensor or group with the requested name.
    case notFound
    /// A tensor does not have the requested shape, or an attribute not the requested type.
    case mismatch
    /// Writing failed; an existing file is unchanged.
    case unwritable

    /// The system keeps a file from being written; all else is in the file.
    public var fault: Fault { self == .unwritable ? .failure : .input }
}

extension TensorFileError {
    package init(_ kind: Kind, path: String, place: String? = nil, _ problem: String) {
        self.init(kind, file: path, place: place ?? "", problem)
    }
}
