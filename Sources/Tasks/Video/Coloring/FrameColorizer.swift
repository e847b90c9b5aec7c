import RetintColoring
import RetintEngine
import RetintImages
import RetintPhotoData
import RetintRuntime
import RetintVideo

/// Colors the frames of a video: `try await FrameColorizer(model, format).colorize(frame)`.
///
/// Only Cb and Cr change; the bytes of Y' are copied. Several frames are colored at the same
/// time, each by one thread, so that all processors are fully used. A colorizer may
/// be shared between tasks: if all threads are busy, frames wait in order.
public final class FrameColorizer: Sendable {
    /// How the frames are stored.
    public let format: FrameFormat
    /// The height and width of the network's input in pixels.
    public let networkSize: (height: Int, width: Int)
    /// The number of frames that are colored at the same time.
    public var workerCount: Int { threads.count }
    /// Whether frames can follow the colors of previous frames.
    package let hasStableColors: Bool
    let anchors: ColorAnchors
    private let workers: [FrameWorker]
    /// Each worker has its own weights.
    private static let maximumWorkers = 64
    /// Which colors are new.
    let masks: FrameMasks
    /// The time of each stage for the frames so far.
    package let clock = FilmStageClock()
    private let threads: WorkerThreads

    /// Compiles a model.
    ///
    /// - Parameters:
    ///   - model: a checkpoint or a package.
    ///   - format: the format of the frames.
    ///   - size: the side of the network's square input in pixels; nil for a
    ///     package's own size and 256 for a checkpoint.
    ///   - threads: the number of frames that are colored at the same time, at most 64; nil for all
    ///     processors that the process may use.
    ///   - stableColors: whether the frames of ``colorized(_:from:inFlight:)`` and
    ///     ``latest(of:)`` keep the colors of previous frames where they show the same
    ///     things. Otherwise each frame is colored independently, and colors flicker.
    ///   - anchors: frames of the video in the desired colors, of any size. Frames that
    ///     look like an anchor get its colors, and later frames keep them until the scene
    ///     ends. Anchors have no effect without stable colors.
    ///   - masks: where frames get new colors; nil for everywhere. Elsewhere a frame keeps
    ///     its own colors, and a mono frame stays gray.
    ///   - blend: the share of the new colors, 0…1; the rest is the frame's own colors.
    ///   - quadrilateral: a picture that all frames show in the same perspective: it is
    ///     rectified, colored by itself, and only its colors go back; nil for the frames
    ///     themselves.
    ///   - choices: the fastest algorithms measured on this machine.
    /// - Throws: `ModelError` if the model is not a colorizer or does not run at that size;
    ///   `FrameError` if an anchor has another aspect ratio than the video, or if there are anchors
    ///   for a picture in perspective; `PhotoError` if a single mask has another size than the
    ///   frames or the quadrilateral reaches beyond them.
    public init(
        _ model: Model, _ format: FrameFormat, size: Int? = nil, threads: Int? = nil,
        stableColors: Bool = true, anchors: [Image] = [], masks: ColorMasks? = nil,
        blend: Float = 1, quadrilateral: Quadrilateral? = nil, choices: KernelChoices = .init()
    ) throws {
        let picture = try quadrilateral.map { try FramePicture($0, in: format) }
        guard picture == nil || anchors.isEmpty else {
            throw FrameError(
                .format, "anchors show whole frames, and not a picture in perspective")
        }
        self.masks = try FrameMasks(format, masks, picture, blend: blend)
        self.format = format
        var options = CompileOptions(threads: 1)
        options.choices = choices
        let count = min(max(threads ?? Machine.processorCount, 1), Self.maximumWorkers)
        let (height, width) = try model.size(ofSide: size)
        networkSize = (height, width)
        let isStable = stableColors && min(height, width) >= LightnessPyramid.minimumSide
        hasStableColors = isStable
        self.anchors = try ColorAnchors(
            isStable ? anchors : [], of: format, width: width, height: height)
        let view = FrameView(format, picture, width: width, height: height)
        workers = try (0..<count).map { [clock] _ in
            FrameWorker(
                try model.program(
                    height: height, width: width, estimatesConfidence: isStable, options: options),
                view, clock)
        }
        self.threads = WorkerThreads(count, name: "retint.frames")
    }

    /// The indices of the anchors that have matched no frame so far.
    public var unseenAnchors: [Int] { anchors.unseen }

    /// Colors a frame independently of others.
    ///
    /// - Parameters:
    ///   - frame: a frame in ``format``.
    ///   - index: the index of the frame in its video, for per-frame masks.
    /// - Returns: the frame with new Cb and Cr; a mono frame gets color planes of half its width
    ///   and height.
    /// - Throws: `FrameError` if the frame is not in ``format``; `ModelError` if the network
    ///   returns colors that are not finite; `PhotoError` or `ImageError` if its mask is missing or
    ///   cannot be used; `CancellationError` if the task is cancelled, which takes effect between
    ///   two steps of the network.
    public func colorize(_ frame: Frame, index: Int = 0) async throws -> Frame {
        try await onWorker {
            try self.mixed(try $0.colored(frame, $1), with: frame, index: index)
        }
    }

    /// A colored frame, with its own colors where the masks are black, and with its own timestamp.
    func mixed(_ colored: Frame, with original: Frame, index: Int) throws -> Frame {
        try clock.measure(.painting) {
            var result = try masks.mixed(colored, with: original, index: index)
            result.presentationTime = original.presentationTime
            return result
        }
    }

    /// Runs work on a worker thread.
    func onWorker<Value: Sendable>(
        _ body: @escaping @Sendable (FrameWorker, CancellationFlag) throws -> Value
    ) async throws -> Value {
        try await threads.run { [workers] in try body(workers[$0], $1) }
    }
}
