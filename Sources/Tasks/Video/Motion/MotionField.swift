import CRetintMotion

/// Where each pixel of a frame was in an earlier one.
package struct MotionField: Sendable {
    /// The size in pixels.
    package let width, height: Int
    /// The pixel at (x, y) was at (x + dx, y + dy); row by row from the top.
    package let dx, dy: [Float]
    /// The similarity of the two places, from 0 to 1, regardless of overall brightness.
    package let reliability: [Float]
    /// The share of the frame's contrast that the earlier frame explains: 1 for equal frames,
    /// around 0 or less for frames of other scenes.
    package let explainedShare: Float

    package init(
        width: Int, height: Int, dx: [Float], dy: [Float], reliability: [Float],
        explainedShare: Float
    ) {
        (self.width, self.height, self.dx, self.dy) = (width, height, dx, dy)
        (self.reliability, self.explainedShare) = (reliability, explainedShare)
    }

    /// Whether the two frames show different scenes.
    package var isSceneCut: Bool { explainedShare < Self.sceneCutShare }

    /// Frames of one scene explain more than this of each other, those of two scenes less.
    private static let sceneCutShare: Float = 0.5

    /// Estimates the motion between two frames of one size.
    ///
    /// - Parameters:
    ///   - earlier: the frame that the motion leads back to.
    ///   - frame: the frame that it starts from.
    package init(from frame: LightnessPyramid, to earlier: LightnessPyramid) {
        let estimate = Estimate(from: frame, to: earlier, leastShare: -.infinity)
        self.init(
            width: frame.width, height: frame.height, dx: estimate.dx, dy: estimate.dy,
            reliability: estimate.reliability, explainedShare: estimate.explainedShare)
    }

    /// The motion between two frames of one scene; nil, after a short look, for other frames.
    ///
    /// - Parameters:
    ///   - frame: the frame that the motion starts from.
    ///   - other: a frame of the same size, at any time.
    package static func within(
        _ frame: LightnessPyramid, and other: LightnessPyramid
    ) -> MotionField? {
        let estimate = Estimate(from: frame, to: other, leastShare: Self.sceneCutShare)
        guard estimate.width == frame.width, estimate.height == frame.height else { return nil }
        let field = MotionField(
            width: frame.width, height: frame.height, dx: estimate.dx, dy: estimate.dy,
            reliability: estimate.reliability, explainedShare: estimate.explainedShare)
        return field.isSceneCut ? nil : field
    }
}

/// The motion at one resolution.
private struct Estimate {
    let width, height: Int
    var dx, dy: [Float]
    var reliability: [Float] = []
    var explainedShare: Float = 0

    /// Search steps for each patch; the coarse resolutions are cheap, and the finer ones would not
    /// correct their errors.
    private static let (coarseSteps, finestSteps): (Int32, Int32) = (12, 6)
    /// The contribution of noise to the variance of a patch, in squared units of L.
    private static let noise = 0.5

    /// The largest side, in pixels, of the levels that a short look searches.
    private static let shortLook = 64

    init(width: Int, height: Int, dx: [Float], dy: [Float]) {
        (self.width, self.height, self.dx, self.dy) = (width, height, dx, dy)
    }

    /// From coarse to fine.
    ///
    /// - Parameter leastShare: the search ends after a short look if it explains less.
    init(from frame: LightnessPyramid, to earlier: LightnessPyramid, leastShare: Float) {
        precondition(frame.width == earlier.width && frame.height == earlier.height)
        let coarsest = frame.levels[frame.levels.count - 1]
        let none = [Float](repeating: 0, count: coarsest.width * coarsest.height)
        self.init(width: coarsest.width, height: coarsest.height, dx: none, dy: none)
        for (now, before) in zip(frame.levels, earlier.levels).reversed() {
            let isNext = max(now.width, now.height) > Self.shortLook && !reliability.isEmpty
            if isNext, explainedShare < leastShare { return }
            self = doubled(toWidth: now.width, height: now.height)
            refine(now, before, isFinest: now.width == frame.width)
        }
    }

    func doubled(toWidth newWidth: Int, height newHeight: Int) -> Estimate {
        if newWidth == width && newHeight == height { return self }
        func double(_ plane: [Float]) -> [Float] {
            floats(newWidth * newHeight) {
                mo_double(
                    plane, Int32(width), Int32(height), $0, Int32(newWidth), Int32(newHeight))
            }
        }
        return Estimate(width: newWidth, height: newHeight, dx: double(dx), dy: double(dy))
    }

    mutating func refine(
        _ now: LightnessPyramid.Level, _ before: LightnessPyramid.Level, isFinest: Bool
    ) {
        let area = width * height
        let steps = isFinest ? Self.finestSteps : Self.coarseSteps
        var match = mo_match()
        reliability = floats(area) { reliability in
            withUnsafeTemporaryAllocation(of: Float.self, capacity: 5 * area) { sums in
                match = now.withPlane { now in
                    before.withPlane { before in
                        withUnsafePointer(to: now) { now in
                            withUnsafePointer(to: before) { before in
                                mo_refine(
                                    now, before, &dx, &dy, reliability, sums.baseAddress!, steps)
                            }
                        }
                    }
                }
            }
        }
        let patches = Double(area) / Double(MO_STRIDE * MO_STRIDE) * Self.noise
        explainedShare = Float(1 - match.residual / (match.variance + patches))
    }
}
