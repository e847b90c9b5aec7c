import ColorScience
import Engine
import Files
import ImageIO
import Models
import Photos
import Synchronization
import TensorGraph

/// Colors photos: `try Colorizer(contentsOf: model).colorize(photo)`.
///
/// It is compiled once and then colors any number of photos. It may be shared between tasks, which
/// then take turns; one call already runs on all processors.
public final class Colorizer: Sendable {
    private let program: Mutex<ModelProgram>

    /// The height and width, in pixels, at which the network sees a photo.
    public let networkSize: (height: Int, width: Int)

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
    public init(
        _ model: Model, size: Int? = nil, threads: Int? = nil, choices: KernelChoices = .init()
    ) throws {
        var options = CompileOptions(threads: threads)
        options.choices = choices
        let compiled = try model.program(height: size, width: size, options: options)
        networkSize = (compiled.inputShape[2], compiled.inputShape[3])
        program = Mutex(compiled)
    }

    /// Colors a photo, at its own size.
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
        let (height, width) = networkSize
        let colors = try colors(of: photo.resized(to: width, height: height))
        func enlarged(_ channel: Int) -> [Float] {
            resizePlane(
                colors.colorPlane(channel).map { $0 * saturation }, width: width, height: height,
                toWidth: photo.width, toHeight: photo.height, filter: .bilinear)
        }
        return photo.withColor(a: enlarged(0), b: enlarged(1))
    }

    /// The colors, [1, 2, H, W], of an image that has the network's size.
    func colors(of image: Image) throws -> TensorData {
        let lightness = lab(fromRGB: image.pixels).l
        return try program.withLock { try $0.predict(lightness: lightness) }
    }
}
