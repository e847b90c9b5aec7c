import Glibc

/// A file or directory that could not be read or written, with the reason and what to do.
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path as the caller gave it.
    public let path: String
    /// The operation, to follow "cannot": "read", "write", "rename".
    public let operation: String
    /// Why it failed, in words.
    public let reason: String
    /// What to do about it; may be empty.
    public let remedy: String
    /// The system's error number; 0 if the refusal is our own.
    public let errorNumber: Int32

    package init(
        path: String, operation: String, reason: String, remedy: String = "",
        errorNumber: Int32 = 0
    ) {
        self.path = path
        self.operation = operation
        self.reason = reason
        self.remedy = remedy
        self.errorNumber = errorNumber
    }

    /// The error of the system call that failed last, or of `number`.
    package init(path: String, operation: String, number: Int32 = errno) {
        self.init(
            path: path, operation: operation, reason: String(cString: strerror(number)),
            remedy: Self.remedy(for: number), errorNumber: number)
    }

    /// `path: cannot operation: reason; remedy`, without an empty remedy.
    public var description: String {
        let sentence = "\(path): cannot \(operation): \(reason)"
        return remedy.isEmpty ? sentence : "\(sentence); \(remedy)"
    }

    private static func remedy(for number: Int32) -> String {
        switch number {
        case ENOENT: "check the path"
        case EACCES, EPERM: "check the permissions"
        case ENOSPC, EDQUOT: "free some space or choose another disk"
        case EROFS: "choose another place"
        case EMFILE, ENFILE: "close other files or raise the limit (ulimit -n)"
        case EFBIG: "raise the limit on file sizes (ulimit -f)"
        default: ""
        }
    }
}
