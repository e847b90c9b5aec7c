import Checkpoints
import ColorScience
import Engine
import ImageIO

/// Colors photos: `try Colorizer(contentsOf: model).colorize(photo)`.
///
/// It is compiled once and then used for any number of photos, by one thread at a time; inside,
/// it runs on all processors.
public final class Colorizer {
    private let program: ModelProgram

    /// Height and width at which the network looks at a photo, in pixels.
    public var networkSize: (height: Int, width: Int) {
        (program.inputShape[2], program.inputShape[3])
    }

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
        contentsOf path: String, size: Int? = nil, threads: Int? = nil,
        choices: KernelChoices = .init()
    ) throws {
        try self.init(Model(contentsOf: path), size: size, threads: threads, choices: choices)
    }

    package init(
        _ model: Model, size: Int? = nil, threads: Int? = nil, choices: KernelChoices = .init()
    ) throws {
        var options = CompileOptions(threads: threads)
        options.choices = choices
        program = try model.program(height: size, width: size, options: options)
    }

    /// The photo in color, at its own size.
    ///
    /// Its lightness stays as it is; its own colors are not looked at. The network sees the photo
    /// resized to its own size, whatever the shape, and the color that it finds is resized back.
    ///
    /// - Parameter saturation: a factor for a and b. A network that is unsure answers with pale
    ///   colors, which are right on the mean; a factor above 1 makes them livelier.
    /// - Throws: an error if the network fails, never because of what is in the photo.
    public func colorize(_ photo: Image, saturation: Float = 1) throws -> Image {
        let (height, width) = networkSize
        let (a, b) = try color(of: photo.resized(to: width, height: height))
        func enlarged(_ plane: [Float]) -> [Float] {
            resizePlane(
                plane.map { $0 * saturation }, width: width, height: height,
                toWidth: photo.width, toHeight: photo.height, filter: .bilinear)
        }
        return photo.withColor(a: enlarged(a), b: enlarged(b))
    }

    /// The color of a picture that has the network's size.
    package func color(of picture: Image) throws -> (a: [Float], b: [Float]) {
        try program.predict(lightness: lab(fromRGB: picture.pixels).l)[0]
    }
}

extension Image {
    /// The picture with its own lightness and other color; values beyond sRGB are clamped.
    ///
    /// - Parameters:
    ///   - a: one value a pixel, in rows from the top.
    ///   - b: the same.
    package func withColor(a: [Float], b: [Float]) -> Image {
        withColor { range in (Array(a[range]), Array(b[range])) }
    }

    /// The picture without color.
    package var gray: Image {
        withColor { range in
            let zeros = [Float](repeating: 0, count: range.count)
            return (zeros, zeros)
        }
    }

    /// Works through the picture in parts, so that a large one does not take six times its size in
    /// memory.
    private func withColor(_ color: (Range<Int>) -> (a: [Float], b: [Float])) -> Image {
        let count = width * height
        var result: [UInt8] = []
        result.reserveCapacity(3 * count)
        for start in stride(from: 0, to: count, by: 1 << 16) {
            let range = start..<min(start + 1 << 16, count)
            let part = lab(fromRGB: Array(pixels[3 * range.lowerBound..<3 * range.upperBound]))
            let (a, b) = color(range)
            result += rgb(fromLab: LabPlanes(l: part.l, a: a, b: b))
        }
        return Image(width: width, height: height, pixels: result)
    }
}
