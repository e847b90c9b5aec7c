/// Why a film cannot be read or written: the file or program, the rule, and the way out.
public struct FilmError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that handle some of them.
    public enum Kind: Hashable, Sendable {
        /// `ffmpeg` or `ffprobe` is not installed.
        case programMissing
        /// The file is no film, has no pictures, or is in a format that is not supported.
        case unreadable
        /// The film is damaged: the frames before are whole.
        case damaged
        /// The film cannot be written.
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
