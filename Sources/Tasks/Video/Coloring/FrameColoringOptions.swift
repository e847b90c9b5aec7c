import RetintColoring
import RetintImages
import RetintPhotoData

/// How the frames of a video are colored; see ``FrameColorizer``.
public struct FrameColoringOptions: Sendable {
    /// The side of the network's square input in pixels; nil for a package's own size and 256 for
    /// a checkpoint.
    public var size: Int?
    /// A factor for the network's a and b; the colors of ``anchors`` stay as they are.
    public var saturation: Float = 1
    /// Whether the frames of ``FrameColorizer/colorized(_:from:inFlight:)`` and
    /// ``FrameColorizer/latest(of:)`` keep the colors of previous frames where they show the same
    /// things. Otherwise each frame is colored independently, and colors flicker.
    public var stableColors = true
    /// Frames of the video in the desired colors, of any size. Frames that look like an anchor get
    /// its colors, and later frames keep them until the scene ends. Anchors have no effect without
    /// stable colors.
    public var anchors: [Image] = []
    /// Where frames get new colors; nil for everywhere. Elsewhere a frame keeps its own colors, and
    /// a mono frame stays gray. A folder has one mask for each frame that is colored, in the order
    /// of their names.
    public var masks: ColorMasks?
    /// The share of the new colors, 0…1; the rest is the frame's own colors.
    public var blend: Float = 1
    /// A picture that all frames show in the same perspective: it is rectified, colored by itself,
    /// and only its colors go back; nil for the frames themselves.
    public var quadrilateral: Quadrilateral?

    /// The defaults.
    public init() {}

    /// The defaults but for the network's size.
    public init(size: Int?) {
        self.size = size
    }
}
