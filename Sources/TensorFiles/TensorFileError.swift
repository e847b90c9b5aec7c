/// Why a file of tensors could not be read or written: the file, the place in it, the rule that it
/// breaks and, where there is one, the way out.
public struct TensorFileError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// There is no such file, it is a directory, or the system does not let it be read.
        case unreadable
        /// The file is of another format, or of another program's layout.
        case otherFormat
        /// The file breaks off or contradicts itself.
        case damaged
        /// The file asks for something that is not done for a file from outside: following a link
        /// out of it, a filter that is a plug-in, more memory than the limits allow.
        case refused
        /// The file holds no tensor or group of the name asked for.
        case notFound
        /// A tensor is not of the shape, or an attribute not of the type, that was asked for.
        case mismatch
        /// Writing failed; what stood at the path before still stands there.
        case unwritable
    }

    public let kind: Kind
    public let path: String
    /// The dataset, group or attribute in the file; nil where the file as a whole is meant.
    public let place: String?
    public let problem: String

    package init(_ kind: Kind, path: String, place: String? = nil, _ problem: String) {
        self.kind = kind
        self.path = path
        self.place = place
        self.problem = problem
    }

    public var description: String {
        guard let place else { return "\(path): \(problem)" }
        return "\(path): \(place): \(problem)"
    }
}
