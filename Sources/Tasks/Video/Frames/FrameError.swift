/// Why a frame or a stream of frames cannot be read, colored or written: the place, the rule, and
/// what to do.
public struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that handle some kinds.
    public enum Kind: Hashable, Sendable {
        /// A size, depth or layout that is not supported.
        case format
        /// Planes that do not have the size that the format states.
        case planes
        /// A stream that is damaged.
        case damaged
        /// A stream that ends inside a frame.
        case truncated
    }

    /// The kind of failure.
    public let kind: Kind
    /// What is wrong, and what to do about it.
    public let description: String

    package init(_ kind: Kind, _ description: String) {
        (self.kind, self.description) = (kind, description)
    }
}
