/// Why Apple's runtime could not run a model: the program or the model, the rule and what to do.
public struct AppleRuntimeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Kind: Hashable, Sendable {
        /// There is no Python with the version of the runtime that retint supports.
        case unavailable
        /// The runtime cannot run the file.
        case otherFormat
        /// The runtime refuses the model, or crashes.
        case failed
        /// The runtime took too long.
        case timedOut
    }

    /// The kind of the error.
    public let kind: Kind
    /// The path of the model or of Python; empty if there is none.
    public let path: String
    /// The violated rule, and what to do.
    public let problem: String

    init(_ kind: Kind, path: String = "", _ problem: String) {
        (self.kind, self.path, self.problem) = (kind, path, problem)
    }

    /// The path and the problem.
    public var description: String { path.isEmpty ? problem : "\(path): \(problem)" }
}
