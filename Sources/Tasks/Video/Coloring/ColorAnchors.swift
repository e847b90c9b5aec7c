import RetintColor
import RetintImages
import RetintLocks

/// Colored frames of a video, whose colors the video should follow.
final class ColorAnchors: Sendable {
    private struct Anchor {
        let lightness: LightnessPyramid
        let a, b: [Float]
    }

    private let anchors: [Anchor]
    private let seen: Mutex<Set<Int>> = Mutex([])

    /// - Parameters:
    ///   - images: frames of the video, in color.
    ///   - format: the format of the video.
    ///   - width: the width of the network's input in pixels.
    ///   - height: the height of the network's input.
    ///   - video: the name of the video in errors.
    /// - Throws: ``FrameError`` if an image has another aspect ratio than the video.
    init(
        _ images: [Image], of format: FrameFormat, width: Int, height: Int, video: String
    ) throws(FrameError) {
        var anchors: [Anchor] = []
        for (index, image) in images.enumerated() {
            do throws(FrameError) {
                try image.checkProportions(of: format, number: index + 1)
            } catch {
                throw error.of(video)
            }
            let colors = lab(fromRGB: image.resized(to: width, height: height).pixels)
            anchors.append(
                Anchor(
                    lightness: LightnessPyramid(colors.l, width: width, height: height),
                    a: colors.a, b: colors.b))
        }
        self.anchors = anchors
    }

    /// The anchors that show the same scene as a frame, and the motion to them.
    func motions(from frame: LightnessPyramid) -> [(anchor: Int, motion: MotionField)] {
        let found = anchors.indices.compactMap { index in
            MotionField.within(frame, and: anchors[index].lightness).map { (index, $0) }
        }
        if !found.isEmpty { seen.withLock { $0.formUnion(found.map(\.0)) } }
        return found
    }

    /// Blends the colors of a frame towards those of the anchors.
    func lead(_ colors: inout StableColors, _ motions: [(anchor: Int, motion: MotionField)]) {
        for (index, motion) in motions {
            colors.follow(a: anchors[index].a, b: anchors[index].b, motion: motion)
        }
    }

    /// The indices of the anchors that have matched no frame so far.
    var unseen: [Int] {
        let seen = seen.withLock { $0 }
        return anchors.indices.filter { !seen.contains($0) }
    }
}

extension Image {
    /// An anchor may be larger or smaller than the video, but not cropped.
    fileprivate func checkProportions(of format: FrameFormat, number: Int) throws(FrameError) {
        let (own, video) = (
            Double(width) / Double(height), Double(format.width) / Double(format.height)
        )
        guard abs(own / video - 1) > 0.02 else { return }
        throw FrameError(
            .format,
            place: "anchor \(number)",
            "has \(width) × \(height) pixels, for a video of \(format.width) × "
                + "\(format.height); give a whole frame of the video")
    }
}
