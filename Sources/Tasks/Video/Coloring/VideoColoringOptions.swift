/// How a video is colored.
public struct VideoColoringOptions: Sendable {
    /// How to read the video if it does not state this itself.
    public var reading = VideoReadingOptions()
    /// FFmpeg's name of an encoder, such as `libx264`; nil for the container's default.
    public var encoder: String?
    /// Options of the encoder as `name=value`, such as `crf=18`.
    public var encoderOptions: [String] = []
    /// How its frames are colored.
    public var frames = FrameColoringOptions()
    /// Whether frames that arrive while another one is being colored are dropped, except the
    /// newest, so that a camera's picture does not lag behind.
    public var isLive = false
    /// Whether the video is written in segments, in a folder next to it. They stay when coloring
    /// stops, and coloring continues after existing ones. Only for containers.
    public var resumes = false

    /// The number of frames in a segment.
    public static var segmentLength: Int { VideoParts.length }

    /// The defaults.
    public init() {}
}
