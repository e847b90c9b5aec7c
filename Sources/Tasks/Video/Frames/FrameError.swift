public import RetintFiles

/// Why a frame or a stream of frames cannot be read, colored or written: the place, the rule, and
/// what to do.
public typealias FrameError = Refusal<FrameProblem>

/// What is refused of frames.
public enum FrameProblem: RefusalKind {
    /// A size, depth or layout that is not supported.
    case format
    /// Planes that do not have the size that the format states.
    case planes
    /// A stream that is damaged.
    case damaged
    /// A stream that ends inside a frame.
    case truncated

    /// A stream that breaks off has failed; all else is in its frames.
    public var fault: Fault {
        switch self {
        case .damaged, .truncated: .failure
        case .format, .planes: .input
        }
    }
}
