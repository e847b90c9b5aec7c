import RetintColoring
import RetintEngine
import RetintImages
import RetintPhotoData
import RetintRuntime

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
    package let clock = VideoStageClock()
    private let threads: WorkerThreads

    /// Compiles a model.
    ///
    /// - Parameters:
    ///   - model: a checkpoint or a package. As many frames are colored at the same time as it has
    ///     threads, at most 64.
    ///   - format: the format of the frames.
    ///   - options: how the frames are colored.
    /// - Throws: `ModelError` if the model is not a colorizer or does not run at that size;
    ///   `FrameError` if an anchor has another aspect ratio than the video, or if there are anchors
    ///   for a picture in perspective; `PhotoError` if a single mask has another size than the
    ///   frames or the quadrilateral reaches beyond them.
    public convenience init(
        _ model: Model, _ format: FrameFormat, _ options: FrameColoringOptions = .init()
    ) throws {
        try self.init(model, format, options, of: "the video")
    }

    /// - Parameter video: the name of the video in errors.
    package init(
        _ model: Model, _ format: FrameFormat, _ options: FrameColoringOptions, of video: String
    ) throws {
        let picture = try options.quadrilateral.map {
            try FramePicture($0, in: format, of: video)
        }
        guard picture == nil || options.anchors.isEmpty else {
            throw FrameError(
                .format, file: video, place: "anchors",
                "they are whole frames and do not work for a picture in perspective; "
                    + "omit either the anchors or the quadrilateral")
        }
        self.masks = try FrameMasks(
            format, options.masks, picture, blend: options.blend, of: video)
        self.format = format
        let count = min(model.execution.threadCount, Self.maximumWorkers)
        let (height, width) = try model.size(ofSide: options.size)
        networkSize = (height, width)
        let isStable = options.stableColors && min(height, width) >= LightnessPyramid.minimumSide
        hasStableColors = isStable
        self.anchors = try ColorAnchors(
            isStable ? options.anchors : [], of: format, width: width, height: height,
            video: video)
        let view = FrameView(
            format, picture, width: width, height: height, of: video)
        let single = model.onThreads(1)
        workers = try (0..<count).map { [clock] _ in
            FrameWorker(
                try single.program(height: height, width: width, estimatesConfidence: isStable),
                view, saturation: options.saturation, clock)
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
