import CRetintKernels
import RetintCompiler

/// A kernel of a function of single pixels, all channels of each: a row of its result follows from
/// the same row of its input.
class PixelKernel: RowKernel {
    /// Elements that stay in a core's cache for the epilogue.
    private static let nearFloats = 1 << 13

    init(name: String, work: Int, x: Buffer, output: Buffer) {
        super.init(name: name, work: work, geometry: .pixelByPixel, x: x, output: output)
    }

    override var chains: Bool { true }

    /// Computes `pixels`, counted over the whole batch, with the tail but without an epilogue.
    func compute(
        pixels: Range<Int>, from x: UnsafePointer<Float>, to y: UnsafeMutablePointer<Float>
    ) {
        preconditionFailure("\(name) does not compute pixels")
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let channels = output.shape[1]
        let own = part.range(output.count / channels)
        let step = max(Self.nearFloats / channels, 1)
        for first in stride(from: own.lowerBound, to: own.upperBound, by: step) {
            let end = min(first + step, own.upperBound)
            compute(pixels: first..<end, from: x.pointer, to: output.pointer)
            finish(first * channels..<end * channels, thread: part.index)
        }
    }

    override func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        let width = output.shape[3]
        compute(
            pixels: rows.lowerBound * width..<rows.upperBound * width, from: addresses.x,
            to: addresses.y)
    }
}

extension rt_conv {
    /// The geometry that ``RowKernel`` needs for a function of single pixels.
    fileprivate static var pixelByPixel: rt_conv {
        var geometry = rt_conv()
        (geometry.kernel_height, geometry.kernel_width) = (1, 1)
        (geometry.stride_height, geometry.stride_width) = (1, 1)
        (geometry.dilation_height, geometry.dilation_width) = (1, 1)
        return geometry
    }
}
