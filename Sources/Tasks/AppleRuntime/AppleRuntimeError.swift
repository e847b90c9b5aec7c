public import RetintFiles

/// Why Apple's runtime could not run a model: the program or the model, the rule and what to do.
///
/// Its file is the path of the model or of the Python.
public typealias AppleRuntimeError = Refusal<AppleRuntimeProblem>

/// What keeps Apple's runtime from running a model.
public enum AppleRuntimeProblem: RefusalKind {
    /// There is no Python with the version of the runtime that retint supports.
    case unavailable
    /// The runtime cannot run the file.
    case otherFormat
    /// The runtime refuses the model, or crashes.
    case failed
    /// The runtime took too long.
    case timedOut

    /// A runtime that is missing or too slow is not the model's fault.
    public var fault: Fault {
        switch self {
        case .unavailable, .timedOut: .failure
        case .otherFormat, .failed: .input
        }
    }
}

extension AppleRuntimeError {
    init(_ kind: Kind, path: String = "", _ problem: String) {
        self.init(kind, file: path, problem)
    }
}
