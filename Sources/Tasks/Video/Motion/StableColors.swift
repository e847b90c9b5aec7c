import CRetintMotion

/// The colors of a frame at the network's size, averaged with those of the frames before it.
///
/// A network colors each frame by itself, so its colors flicker. Here each pixel is followed back
/// to where it was in the frame before, and its color is the weighted mean of that one's and the
/// new estimate. The weight of the past is bounded, so that old colors fade out; it is 0 where the
/// two places do not look alike, where something comes into view, and after a scene cut.
package struct StableColors: Sendable {
    /// The size in pixels.
    package let width, height: Int
    private var colors: [mo_color]

    /// The largest weight of the past, in frames of full confidence.
    package static let memory: Float = 12

    /// The colors of the first frame of a scene.
    ///
    /// - Parameters:
    ///   - a: as the network estimates it, row by row.
    ///   - b: as the network estimates it.
    ///   - confidence: the weight of each estimate, 0…1; 1 everywhere if nil.
    package init(
        a: [Float], b: [Float], confidence: [Float]? = nil, width: Int, height: Int
    ) {
        precondition(a.count == width * height && b.count == a.count)
        precondition(confidence.map { $0.count == a.count } ?? true)
        (self.width, self.height) = (width, height)
        colors = a.indices.map {
            mo_color(a: a[$0], b: b[$0], weight: confidence?[$0] ?? 1, hold: 0)
        }
    }

    /// The colors of the next frame.
    ///
    /// - Parameters:
    ///   - a: as the network estimates it, row by row.
    ///   - b: as the network estimates it.
    ///   - confidence: the weight of each estimate, 0…1; 1 everywhere if nil.
    ///   - motion: from the next frame back to this one.
    package func next(
        a: [Float], b: [Float], confidence: [Float]? = nil, motion: MotionField
    ) -> StableColors {
        precondition(motion.width == width && motion.height == height)
        if motion.isSceneCut {
            return StableColors(a: a, b: b, confidence: confidence, width: width, height: height)
        }
        precondition(a.count == width * height && b.count == a.count)
        precondition(confidence.map { $0.count == a.count } ?? true)
        let next = [mo_color](unsafeUninitializedCapacity: a.count) { buffer, initialized in
            mo_blend(
                colors, motion.dx, motion.dy, motion.reliability, a, b, confidence, Self.memory,
                buffer.baseAddress!, Int32(width), Int32(height))
            initialized = a.count
        }
        return StableColors(width: width, height: height, colors: next)
    }

    /// The weight of an anchor where it looks like the frame, in frames. The network's
    /// estimates move the colors back within about this time once the anchor is out of sight.
    package static let anchorStrength: Float = 200

    /// Draws the colors towards those of an anchor, where the frame looks like it. The frames that
    /// follow keep them.
    ///
    /// - Parameters:
    ///   - a: of the anchor, row by row.
    ///   - b: of the anchor.
    ///   - motion: from this frame to the anchor.
    package mutating func follow(a: [Float], b: [Float], motion: MotionField) {
        precondition(motion.width == width && motion.height == height)
        precondition(a.count == width * height && b.count == a.count)
        colors.withUnsafeMutableBufferPointer { colors in
            mo_anchor(
                colors.baseAddress!, a, b, motion.dx, motion.dy, motion.reliability,
                Self.anchorStrength, Int32(width), Int32(height))
        }
    }

    private init(width: Int, height: Int, colors: [mo_color]) {
        (self.width, self.height, self.colors) = (width, height, colors)
    }

    /// a, row by row.
    package var a: [Float] { colors.map(\.a) }
    /// b, row by row.
    package var b: [Float] { colors.map(\.b) }
}
