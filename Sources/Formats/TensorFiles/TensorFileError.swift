/// Why a file of tensors could not be read or written: the file, the object in it and the problem.
public struct TensorFileError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The kind of failure, for programs that handle some kinds.
    public enum Kind: Hashable, Sendable, Codable {
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
    }

    /// The kind of failure.
    public let kind: Kind
    /// The path of the file.
    public let path: String
    /// The dataset, group or attribute in the file; nil for the file as a whole.
    public let place: String?
    /// What is wrong, and what to do about it.
    public let problem: String

    package init(_ kind: Kind, path: String, place: String? = nil, _ problem: String) {
        self.kind = kind
        self.path = path
        self.place = place
        self.problem = problem
    }

    /// `path: place: problem`, or `path: problem` for the file as a whole.
    public var description: String {
        guard let place else { return "\(path): \(problem)" }
        return "\(path): \(place): \(problem)"
    }
}
