import ColorScience
import Engine
import Files
import ImageIO
import Models
import Photos
import TensorGraph

/// Colors photos: `try Colorizer(contentsOf: model).colorize(photo)`.
///
/// It is compiled once and then colors any number of photos. It may be shared between tasks.
public final class Colorizer: Sendable {
    /// The height and width, in pixels, at which the network sees a photo.
    public let networkSize: (height: Int, width: Int)
    /// The number of photos that the asynchronous functions color at the same time.
    public var workerCount: Int { workers.count }

    let workers: WorkerThreads
    private let programs: ProgramPool
    /// The threads of the network for a photo that is colored alone, and for one of several.
    private let threads: (alone: Int, each: Int)

    /// Reads a model.
    ///
    /// - Parameters:
    ///   - path: a checkpoint or an `.mlpackage`.
    ///   - size: the side, in pixels, of the square at which the network looks at a photo; nil for
    ///     a package's own size and 256 for a checkpoint.
    ///   - threads: all processors that the process may use if nil.
    ///   - choices: what was measured on this machine.
    /// - Throws: an error that names the file and what is wrong with it.
    public convenience init(
        contentsOf path: some PathConvertible, size: Int? = nil, threads: Int? = nil,
        choices: KernelChoices = .init()
    ) throws {
        try self.init(Model(contentsOf: path), size: size, threads: threads, choices: choices)
    }

    /// Compiles a model, see ``init(contentsOf:size:threads:choices:)``.
    ///
    /// - Throws: `ModelError` if the model is no colorizer or does not run at that size.
    public convenience init(
        _ model: Model, size: Int? = nil, threads: Int? = nil, choices: KernelChoices = .init()
    ) throws {
        try self.init(model, size: size, threads: threads, choices: choices, workers: nil)
    }

    /// - Parameter workers: the number of photos that are colored at the same time, where that is
    ///   all that the colorizer is used for; at most as many as there are threads.
    init(
        _ model: Model, size: Int?, threads: Int?, choices: KernelChoices, workers: Int?
    ) throws {
        let all = min(max(threads ?? Machine.processorCount, 1), Self.maximumWorkers)
        let count = min(max(workers ?? all, 1), all)
        let own = try model.preferredSize()
        networkSize = (size ?? own.height, size ?? own.width)
        self.threads = (workers == nil ? all : all / count, all / count)
        self.workers = WorkerThreads(count, name: "retint.photos")
        programs = ProgramPool(model, choices: choices, leastKept: count)
        try programs.prepare(kind(threads: self.threads.alone))
    }

    /// Each worker has weights of its own.
    private static let maximumWorkers = 64

    /// Colors a photo, at its own size. One photo runs on all threads; calls from several tasks
    /// take turns on them.
    ///
    /// The photo keeps its lightness; its own colors are ignored. The network sees the photo
    /// resized to ``networkSize``, whatever its proportions, and the estimated color is resized
    /// back.
    ///
    /// - Parameters:
    ///   - photo: an image of any size.
    ///   - saturation: a factor for a and b. An unsure network gives pale colors, which are right
    ///     on average; a factor above 1 makes them livelier.
    /// - Throws: `ModelError` if the network gives colors that are not finite.
    public func colorize(_ photo: Image, saturation: Float = 1) throws -> Image {
        try colored(photo, saturation, threads: threads.alone)
    }

    /// Colors a photo beside others: ``workerCount`` calls run at the same time, each on one
    /// thread, so that a second processor is as useful as the first. Further ones wait in order.
    ///
    /// The result is that of ``colorize(_:saturation:)-(Image,Float)`` without `await`.
    ///
    /// - Throws: `ModelError` if the network gives colors that are not finite; `CancellationError`
    ///   if the task is cancelled before it is the photo's turn.
    public func colorize(_ photo: Image, saturation: Float = 1) async throws -> Image {
        try await workers.run { [self] _, _ in try colored(photo, saturation) }
    }

    /// Colors a photo on the calling thread, one of ``workers``.
    func colored(_ photo: Image, _ saturation: Float) throws -> Image {
        try colored(photo, saturation, threads: threads.each)
    }

    private func colored(_ photo: Image, _ saturation: Float, threads: Int) throws -> Image {
        let (height, width) = networkSize
        let colors = try colors(of: photo.resized(to: width, height: height), threads: threads)
        func plane(_ channel: Int) -> [Float] {
            colors.colorPlane(channel).map { $0 * saturation }
        }
        var result = photo
        result.recolor(a: plane(0), b: plane(1), width: width, height: height)
        return result
    }

    /// The colors, [1, 2, H, W], of an image that has the network's size.
    func colors(of image: Image) throws -> TensorData {
        try colors(of: image, threads: threads.alone)
    }

    private func colors(of image: Image, threads: Int) throws -> TensorData {
        let lightness = lab(fromRGB: image.pixels).l
        return try programs.withProgram(kind(threads: threads)) {
            try $0.predict(lightness: lightness)
        }
    }

    private func kind(threads: Int) -> ProgramPool.Kind {
        .init(height: networkSize.height, width: networkSize.width, threads: threads)
    }
}
