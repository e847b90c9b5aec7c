/// Why a video cannot be read or written: the file or program, the rule, and what to do.
public struct FilmError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that handle some kinds.
    public enum Kind: Hashable, Sendable {
        /// `ffmpeg` or `ffprobe` is not installed.
        case programMissing
        /// The file is not a video, has no pictures, or is in a format that is not supported.
        case unreadable
        /// The video is damaged; the frames before the damage are intact.
        case damaged
        /// The video cannot be written.
        case unwritable
    }

    /// The kind of failure.
    public let kind: Kind
    /// What is wrong, and what to do about it.
    public let description: String

    package init(_ kind: Kind, _ description: String) {
        (self.kind, self.description) = (kind, description)
    }
}
