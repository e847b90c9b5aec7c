import Glibc

/// A file or directory that could not be read or written, with the reason and what to do. Its
/// path is as the caller gave it.
public typealias FileError = Refusal<FileProblem>

/// What could not be done with a file or directory, and why.
public struct FileProblem: RefusalKind {
    /// The operation, to follow "cannot": "read", "write", "rename".
    public let operation: String
    /// Why it failed, in words.
    public let reason: String
    /// The system's error number; 0 if the refusal is our own.
    public let errorNumber: Int32

    /// What cannot be read is the input's fault.
    public var fault: Fault { operation == "read" ? .input : .failure }
}

extension FileError {
    package init(
        path: String, operation: String, reason: String, remedy: String = "",
        errorNumber: Int32 = 0
    ) {
        self.init(
            FileProblem(operation: operation, reason: reason, errorNumber: errorNumber),
            file: path, rule: "cannot \(operation): \(reason)", remedy: remedy)
    }

    /// The error of the system call that failed last, or of `number`.
    package init(path: String, operation: String, number: Int32 = errno) {
        self.init(
            path: path, operation: operation, reason: String(cString: strerror(number)),
            remedy: Self.remedy(for: number), errorNumber: number)
    }

    /// The operation, to follow "cannot": "read", "write", "rename".
    public var operation: String { kind.operation }
    /// Why it failed, in words.
    public var reason: String { kind.reason }
    /// The system's error number; 0 if the refusal is our own.
    public var errorNumber: Int32 { kind.errorNumber }

    /// Whether there is no space: on the disk, by a quota, or by a limit on the sizes of files.
    package var isWithoutSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains(errorNumber) }

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
