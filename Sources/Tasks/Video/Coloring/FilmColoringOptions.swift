import RetintColoring
import RetintEngine
import RetintImages
import RetintPhotoData
import RetintVideo

/// How a film is colored.
public struct FilmColoringOptions: Sendable {
    /// What to do where the film does not state how it is to be read.
    public var reading = FilmReadingOptions()
    /// FFmpeg's name of an encoder, such as `libx264`; the container's own if nil.
    public var encoder: String?
    /// Options of the encoder as `name=value`, such as `crf=18`.
    public var encoderOptions: [String] = []
    /// The side, in pixels, of the square at which the network sees a frame; nil for a package's
    /// own size and 256 for a checkpoint.
    public var size: Int?
    /// The number of frames that are colored at the same time; nil for all processors.
    public var threads: Int?
    /// Whether frames keep the colors of those before them, as far as they show the same things.
    public var stableColors = true
    /// Frames of the film in the colors that it is to have; see ``FrameColorizer``.
    public var anchors: [Image] = []
    /// Where the colors of frames are new; nil for everywhere. A folder has a mask for each frame
    /// that is colored, in the order of their names.
    public var masks: ColorMasks?
    /// The share of the new colors, 0…1; the rest are the film's own.
    public var blend: Float = 1
    /// The picture that all frames show in the same perspective, if only that is colored.
    public var quadrilateral: Quadrilateral?
    /// Whether frames that come while another one is colored are left out, except the newest, so
    /// that a camera's picture does not lag behind.
    public var isLive = false
    /// Whether the film is written in parts, in a folder beside it, which stay when coloring stops,
    /// and coloring goes on after those that are there. For containers alone.
    public var resumes = false
    /// The fastest algorithms measured on this machine.
    public var choices = KernelChoices()

    /// The defaults.
    public init() {}
}
