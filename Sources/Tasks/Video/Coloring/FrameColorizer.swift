import RetintColoring
import RetintEngine
import RetintImages
import RetintPhotoData
import RetintRuntime
import RetintVideo

/// Colors the frames of a film: `try await FrameColorizer(model, format).colorize(frame)`.
///
/// Only Cb and Cr are written; Y' leaves as the same bytes. Several frames are colored at the same
/// time, each by one thread, so that a second processor is as useful as the first. A colorizer may
/// be shared between tasks: frames that find all threads busy wait in order.
public final class FrameColorizer: Sendable {
    /// How the frames are stored.
    public let format: FrameFormat
    /// The height and width, in pixels, at which the network sees a frame.
    public let networkSize: (height: Int, width: Int)
    /// The number of frames that are colored at the same time.
    public var workerCount: Int { threads.count }
    /// Whether frames can follow the colors of those before them.
    package let hasStableColors: Bool
    let anchors: ColorAnchors
    private let workers: [FrameWorker]
    /// Each worker has weights of its own.
    private static let maximumWorkers = 64
    /// Which colors are new.
    let masks: FrameMasks
    /// What the time of the frames so far was spent on.
    package let clock = FilmStageClock()
    private let threads: WorkerThreads

    /// Compiles a model.
    ///
    /// - Parameters:
    ///   - model: a checkpoint or a package. As many frames are colored at the same time as it has
    ///     threads, at most 64.
    ///   - format: of the frames.
    ///   - options: how the frames are colored.
    /// - Throws: `ModelError` if the model is no colorizer or does not run at that size;
    ///   `FrameError` if an anchor has other proportions than the film, or if there are anchors for
    ///   a picture in perspective; `PhotoError` if a single mask has another size than the frames
    ///   or the quadrilateral reaches beyond them.
    public init(
        _ model: Model, _ format: FrameFormat, _ options: FrameColoringOptions = .init()
    ) throws {
        let picture = try options.quadrilateral.map { try FramePicture($0, in: format) }
        guard picture == nil || options.anchors.isEmpty else {
            throw FrameError(
                .format, "anchors show whole frames, and not a picture in perspective")
        }
        self.masks = try FrameMasks(format, options.masks, picture, blend: options.blend)
        self.format = format
        let count = min(model.execution.threadCount, Self.maximumWorkers)
        let (height, width) = try model.size(ofSide: options.size)
        networkSize = (height, width)
        let isStable = options.stableColors && min(height, width) >= LightnessPyramid.minimumSide
        hasStableColors = isStable
        self.anchors = try ColorAnchors(
            isStable ? options.anchors : [], of: format, width: width, height: height)
        let view = FrameView(format, picture, width: width, height: height)
        let single = model.onThreads(1)
        workers = try (0..<count).map { [clock] _ in
            FrameWorker(
                try single.program(height: height, width: width, estimatesConfidence: isStable),
                view, clock)
        }
        self.threads = WorkerThreads(count, name: "retint.frames")
    }

    /// The indices of the anchors that no frame looked like so far.
    public var unseenAnchors: [Int] { anchors.unseen }

    /// Colors a frame by itself.
    ///
    /// - Parameters:
    ///   - frame: of ``format``.
    ///   - index: of the frame in its film, for masks of frames.
    /// - Returns: the frame with new Cb and Cr; a mono frame gets color planes of half its width
    ///   and height.
    /// - Throws: `FrameError` if the frame is not of ``format``; `ModelError` if the network gives
    ///   colors that are not finite; `PhotoError` or `ImageError` if its mask is missing or cannot
    ///   be used; `CancellationError` if the task is cancelled, which takes effect between two
    ///   steps of the network.
    public func colorize(_ frame: Frame, index: Int = 0) async throws -> Frame {
        try await onWorker {
            try self.mixed(try $0.colored(frame, $1), with: frame, index: index)
        }
    }

    /// A colored frame with its own colors where the masks say so, and with its own time.
    func mixed(_ colored: Frame, with original: Frame, index: Int) throws -> Frame {
        try clock.measure(.painting) {
            var result = try masks.mixed(colored, with: original, index: index)
            result.presentationTime = original.presentationTime
            return result
        }
    }

    /// Does something on a thread of one's own, when it is one's turn.
    func onWorker<Value: Sendable>(
        _ body: @escaping @Sendable (FrameWorker, CancellationFlag) throws -> Value
    ) async throws -> Value {
        try await threads.run { [workers] in try body(workers[$0], $1) }
    }
}
