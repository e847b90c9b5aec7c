import RetintColor
import RetintEngine
import RetintFiles
import RetintGraph
import RetintImages
import RetintPhotoData
import RetintRuntime
import RetintTensors

/// Colors photos: `try Colorizer(contentsOf: model).colorize(photo)`.
///
/// It is compiled once and then colors any number of photos. It may be shared between tasks.
public final class Colorizer: Sendable {
    /// The height and width of the network's input in pixels. With
    /// ``PhotoFitting/Proportions/own``, the input of a photo has other sides of about that area.
    public var networkSize: (height: Int, width: Int) { sizes.base }
    /// How photos are fitted to the network, and its colors to the photos.
    public let fitting: PhotoFitting
    /// The number of photos that the asynchronous functions color at the same time.
    public var workerCount: Int { workers.count }

    let workers: WorkerThreads
    private let sizes: NetworkSizes
    private let programs: ProgramPool
    /// The network's threads for a photo that is colored alone, and for one of several.
    let threads: (alone: Int, each: Int)

    /// Reads a model.
    ///
    /// - Parameters:
    ///   - path: a checkpoint or an `.mlpackage`.
    ///   - size: the side of the network's square input in pixels; nil for
    ///     a package's own size and 256 for a checkpoint.
    ///   - threads: the number of threads; nil for all processors that the process may use.
    ///   - choices: the fastest algorithms measured on this machine.
    ///   - fitting: how photos are fitted to the network. A package has fixed sizes, and always
    ///     uses its own.
    /// - Throws: an error that names the file and what is wrong with it.
    public convenience init(
        contentsOf path: some PathConvertible, size: Int? = nil, threads: Int? = nil,
        choices: KernelChoices = .init(), fitting: PhotoFitting = .init()
    ) throws {
        try self.init(
            Model(contentsOf: path), size: size, threads: threads, choices: choices,
            fitting: fitting)
    }

    /// Compiles a model, see ``init(contentsOf:size:threads:choices:fitting:)``.
    ///
    /// - Throws: `ModelError` if the model is not a colorizer or does not run at that size.
    public convenience init(
        _ model: Model, size: Int? = nil, threads: Int? = nil, choices: KernelChoices = .init(),
        fitting: PhotoFitting = .init()
    ) throws {
        try self.init(
            model, size: size, threads: threads, choices: choices, fitting: fitting, workers: nil)
    }

    /// - Parameter workers: the number of photos that are colored at the same time, if the
    ///   colorizer is used for nothing else; at most the number of threads.
    init(
        _ model: Model, size: Int?, threads: Int?, choices: KernelChoices, fitting: PhotoFitting,
        workers: Int?
    ) throws {
        let all = min(max(threads ?? Machine.processorCount, 1), Self.maximumWorkers)
        let count = min(max(workers ?? all, 1), all)
        sizes = try NetworkSizes(model, size: size, fitting.proportions)
        self.fitting = fitting
        self.threads = (workers == nil ? all : all / count, all / count)
        self.workers = WorkerThreads(count, name: "retint.photos")
        programs = ProgramPool(model, choices: choices, leastKept: count)
        try programs.prepare(
            .init(height: networkSize.height, width: networkSize.width, threads: self.threads.alone)
        )
    }

    /// Each worker has its own weights.
    private static let maximumWorkers = 64

    /// Colors a photo, at its own size. One photo uses all threads; calls from several tasks
    /// run one after the other.
    ///
    /// The photo keeps its lightness; its own colors are ignored. The photo is resized for the
    /// network, see ``networkSize(forHeight:width:)``, and the estimated colors are resized back.
    ///
    /// - Parameters:
    ///   - photo: an image of any size.
    ///   - saturation: a factor for a and b. An uncertain network predicts pale colors, which are
    ///     right on average; a factor above 1 makes them livelier.
    /// - Throws: `ModelError` if the network returns colors that are not finite.
    public func colorize(_ photo: Image, saturation: Float = 1) throws -> Image {
        try colored(photo, saturation, threads: threads.alone, CancellationFlag())
    }

    /// Colors a photo, with another copy of the same size as the network's input.
    package func colorize(_ photo: Image, seeing copy: Image) throws -> Image {
        try colored(photo, seeing: copy, 1, threads: threads.alone, CancellationFlag())
    }

    /// Colors a photo concurrently with others: ``workerCount`` calls run at the same time, each on
    /// one thread, so that all processors are fully used. Further calls wait in order.
    ///
    /// The parameters are those of the function without `await`.
    ///
    /// - Throws: `ModelError` if the network returns colors that are not finite;
    ///   `CancellationError` if the task is cancelled, which takes effect between two steps of the
    ///   network.
    public func colorize(_ photo: Image, saturation: Float = 1) async throws -> Image {
        try await workers.run { [self] in try colored(photo, saturation, $1) }
    }

    /// Colors a photo on the calling thread, one of ``workers``.
    func colored(
        _ photo: Image, _ saturation: Float, _ cancellation: CancellationFlag
    ) throws -> Image {
        try colored(photo, saturation, threads: threads.each, cancellation)
    }

    /// - Parameter copy: the network's input; nil for the photo itself.
    private func colored(
        _ photo: Image, seeing copy: Image? = nil, _ saturation: Float, threads: Int,
        _ cancellation: CancellationFlag
    ) throws -> Image {
        let (height, width) = networkSize(forHeight: photo.height, width: photo.width)
        let seen = (copy ?? photo).resized(to: width, height: height)
        let lightness = lab(fromRGB: seen.pixels).l
        let colors = try colors(
            lightness, height: height, width: width, threads: threads, cancellation)
        func plane(_ channel: Int) -> [Float] {
            colors.colorPlane(channel).map { $0 * saturation }
        }
        var result = photo
        result.recolor(
            a: plane(0), b: plane(1), width: width, height: height,
            guide: fitting.enlargement == .guided ? lightness : nil, threads: threads)
        return result
    }

    /// The height and width, in pixels, of the network's input for a photo of this size.
    ///
    /// - Precondition: The sides are positive.
    public func networkSize(forHeight height: Int, width: Int) -> (height: Int, width: Int) {
        sizes.size(forHeight: height, width: width)
    }

    /// The colors, [1, 2, H, W], of an image that has the network's size.
    package func colors(of image: Image) throws -> TensorData {
        try colors(
            lab(fromRGB: image.pixels).l, height: image.height, width: image.width,
            threads: threads.alone, CancellationFlag())
    }

    private func colors(
        _ lightness: [Float], height: Int, width: Int, threads: Int,
        _ cancellation: CancellationFlag
    ) throws -> TensorData {
        try programs.withProgram(.init(height: height, width: width, threads: threads)) {
            try $0.estimate(lightness: lightness) { cancellation.isSet }.ab
        }
    }
}
