import RetintColoring
import RetintImages
import RetintPhotoData

/// How the frames of a film are colored; see ``FrameColorizer``.
public struct FrameColoringOptions: Sendable {
    /// The side, in pixels, of the square at which the network sees a frame; nil for a package's
    /// own size and 256 for a checkpoint.
    public var size: Int?
    /// Whether the frames of ``FrameColorizer/colorized(_:from:inFlight:)`` and
    /// ``FrameColorizer/latest(of:)`` keep the colors of the frames before them, as far as they
    /// show the same things. Networks color each frame by itself, so that their colors flicker.
    public var stableColors = true
    /// Frames of the film in the colors that it is to have, of any size. Frames that look like an
    /// anchor take its colors, and those that follow keep them until the scene ends. They have no
    /// effect without stable colors.
    public var anchors: [Image] = []
    /// Where the colors of frames are new; nil for everywhere. Elsewhere a frame keeps its own, and
    /// a mono frame stays gray. A folder has a mask for each frame that is colored, in the order of
    /// their names.
    public var masks: ColorMasks?
    /// The share of the new colors, 0…1; the rest are the frame's own.
    public var blend: Float = 1
    /// A picture that all frames show in the same perspective: it is straightened, colored by
    /// itself, and only its colors go back; nil for the frames themselves.
    public var quadrilateral: Quadrilateral?

    /// The defaults.
    public init() {}

    /// The defaults but for the network's size.
    public init(size: Int?) {
        self.size = size
    }
}
