import Films

/// How a film is colored.
public struct FilmColoringOptions: Sendable {
    /// What to do where the film does not state how it is to be read.
    public var reading = FilmReadingOptions()
    /// FFmpeg's name of an encoder, such as `libx264`; the container's own if nil.
    public var encoder: String?
    /// Options of the encoder as `name=value`, such as `crf=18`.
    public var encoderOptions: [String] = []
    /// How its frames are colored.
    public var frames = FrameColoringOptions()
    /// Whether frames that come while another one is colored are left out, except the newest, so
    /// that a camera's picture does not lag behind.
    public var isLive = false
    /// Whether the film is written in parts, in a folder beside it, which stay when coloring stops,
    /// and coloring goes on after those that are there. For containers alone.
    public var resumes = false

    /// The defaults.
    public init() {}
}
