/// Why Apple's runtime could not run a model: the program or the model, the rule and the way out.
public struct AppleRuntimeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What has to be changed.
    public enum Kind: Hashable, Sendable {
        /// There is no Python with the version of the runtime that retint works with.
        case unavailable
        /// The file is none that the runtime can run.
        case otherFormat
        /// The runtime refuses the model, or crashes.
        case failed
        /// The runtime took too long.
        case timedOut
    }

    /// The kind of the error.
    public let kind: Kind
    /// The path of the model or of the Python; empty if there is none.
    public let path: String
    /// The broken rule and the remedy.
    public let problem: String

    init(_ kind: Kind, path: String = "", _ problem: String) {
        (self.kind, self.path, self.problem) = (kind, path, problem)
    }

    /// The path and the problem.
    public var description: String { path.isEmpty ? problem : "\(path): \(problem)" }
}
