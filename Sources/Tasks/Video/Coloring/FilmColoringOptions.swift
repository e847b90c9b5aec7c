import RetintColoring
import RetintEngine
import RetintImages
import RetintPhotoData
import RetintVideo

/// How a video is colored.
public struct FilmColoringOptions: Sendable {
    /// How to read the video if it does not state this itself.
    public var reading = FilmReadingOptions()
    /// FFmpeg's name of an encoder, such as `libx264`; nil for the container's default.
    public var encoder: String?
    /// Options of the encoder as `name=value`, such as `crf=18`.
    public var encoderOptions: [String] = []
    /// The side of the network's square input in pixels; nil for a package's
    /// own size and 256 for a checkpoint.
    public var size: Int?
    /// The number of frames that are colored at the same time; nil for all processors.
    public var threads: Int?
    /// Whether frames keep the colors of previous frames where they show the same things.
    public var stableColors = true
    /// Frames of the video in the desired colors; see ``FrameColorizer``.
    public var anchors: [Image] = []
    /// Where frames get new colors; nil for everywhere. A folder has one mask for each frame
    /// that is colored, in the order of their names.
    public var masks: ColorMasks?
    /// The share of the new colors, 0…1; the rest is the video's own colors.
    public var blend: Float = 1
    /// The picture that all frames show in the same perspective, if only this is colored.
    public var quadrilateral: Quadrilateral?
    /// Whether frames that arrive while another one is being colored are dropped, except the
    /// newest, so that a camera's picture does not lag behind.
    public var isLive = false
    /// Whether the video is written in segments, in a folder next to it. They stay when coloring
    /// stops, and coloring continues after existing ones. Only for containers.
    public var resumes = false
    /// The fastest algorithms measured on this machine.
    public var choices = KernelChoices()

    /// The defaults.
    public init() {}
}
