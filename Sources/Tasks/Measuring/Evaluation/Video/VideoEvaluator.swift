import RetintColor
import RetintImages
import RetintRuntime
import RetintVideo

/// Colors the frames of videos in both ways, and measures them.
final class VideoEvaluator {
    private let program: ModelProgram
    private var stable = VideoMeasure()
    private var perFrame = VideoMeasure()
    private var original = VideoMeasure()
    private var frames = 0
    private var cuts = 0
    private var latest: (lightness: LightnessPyramid, colors: StableColors)?

    /// - Parameter program: compiled for one image, with its confidence.
    init(_ program: ModelProgram) { self.program = program }

    private var height: Int { program.inputShape[2] }
    private var width: Int { program.inputShape[3] }

    /// Adds the next frame of the video.
    ///
    /// - Parameters:
    ///   - image: the frame in color, at the network's size.
    ///   - exactMotion: the motion back to the previous frame, if it is known; otherwise it is
    ///     estimated.
    /// - Throws: `ModelError` if the model returns colors that are not finite.
    func add(_ image: Image, exactMotion: MotionField? = nil) throws {
        let truth = lab(fromRGB: image.pixels)
        let estimate = FrameEstimate(
            try program.estimate(lightness: truth.l), lightness: truth.l, width: width,
            height: height)
        let motion = latest.map { MotionField(from: estimate.lightness, to: $0.lightness) }
        let colors = latest.flatMap { before in
            motion.map { before.colors.next(estimate, motion: $0) }
        }
        latest = (estimate.lightness, colors ?? StableColors(estimate))
        let isCut = motion?.isSceneCut ?? false
        (frames, cuts) = (frames + 1, cuts + (isCut ? 1 : 0))
        if isCut, exactMotion == nil { beginScene() }
        try measure(estimate, truth, exactMotion ?? (isCut ? nil : motion))
    }

    private func measure(
        _ estimate: FrameEstimate, _ truth: LabPlanes, _ motion: MotionField?
    ) throws {
        if let colors = latest?.colors {
            try stable.add(a: colors.a, b: colors.b, original: truth, motion: motion)
        }
        try perFrame.add(a: estimate.a, b: estimate.b, original: truth, motion: motion)
        try original.add(a: truth.a, b: truth.b, original: truth, motion: motion)
    }

    private func beginScene() {
        stable.beginScene()
        perFrame.beginScene()
        original.beginScene()
    }

    /// The video's quality; the next frame begins another video.
    ///
    /// - Returns: nil if it has no frames.
    func finish(_ file: String, kind: String) -> VideoReport.Video? {
        defer {
            (stable, perFrame, original) = (VideoMeasure(), VideoMeasure(), VideoMeasure())
            (frames, cuts, latest) = (0, 0, nil)
        }
        guard let stable = stable.quality, let perFrame = perFrame.quality,
            let original = original.quality
        else { return nil }
        return VideoReport.Video(
            file: file, kind: kind, frames: frames, cuts: cuts, stable: stable,
            perFrame: perFrame, original: original)
    }
}
