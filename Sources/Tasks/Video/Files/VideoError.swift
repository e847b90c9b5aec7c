public import RetintFiles

/// Why a video cannot be read or written: the file or program, the rule, and what to do.
public typealias VideoError = Refusal<VideoProblem>

/// What is refused of a video.
public enum VideoProblem: RefusalKind {
    /// `ffmpeg` or `ffprobe` is not installed.
    case programMissing
    /// The file is not a video, has no pictures, or is in a format that is not supported.
    case unreadable
    /// The video is damaged; the frames before the damage are intact.
    case damaged
    /// No video is written to a file of such a name, or by an encoder of such a name.
    case outputName
    /// The video cannot be written.
    case unwritable

    /// The caller chose the output's name; a video that cannot be read is the input's fault, all
    /// else that of programs and the system.
    public var fault: Fault {
        switch self {
        case .outputName: .usage
        case .unreadable: .input
        case .programMissing, .damaged, .unwritable: .failure
        }
    }
}
