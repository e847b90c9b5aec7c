import CRetintKernels
import RetintCompiler

/// A kernel that can compute any rows of its result into any memory, so that they are in the cache
/// for the next kernel: a convolution, or a function of single pixels.
class RowKernel: FusingKernel, ChainableKernel {
    /// The addresses of row 0 of the whole batch, which need not be in memory itself.
    struct Addresses {
        let x: UnsafePointer<Float>
        let y: UnsafeMutablePointer<Float>
    }

    final let x, output: Buffer
    final let geometry: rt_conv
    /// Rows of the result, over the whole batch.
    final let rowCount: Int
    /// Floats of a row of the result.
    final let rowFloats: Int
    /// The height of one image of the input, and of the result.
    private final let heights: (input: Int, output: Int)

    init(name: String, work: Int, geometry: rt_conv, x: Buffer, output: Buffer) {
        (self.geometry, self.x, self.output) = (geometry, x, output)
        let (input, shape) = (x.shape, output.shape)
        // Values of other ranks have no rows, and do not chain.
        let isImage = shape.rank == 4
        rowCount = isImage ? shape[0] * shape[2] : 0
        rowFloats = isImage ? shape[3] * shape[1] : 0
        heights = isImage ? (input[2], shape[2]) : (0, 0)
        super.init(name: name, work: work)
    }

    /// Whether ``compute(_:at:part:_:)`` may be called instead of ``run(phase:part:_:)``.
    var chains: Bool { false }

    final var links: [RowKernel] { chains ? [self] : [] }

    /// The channels of the result can be computed separately in multiples of this; nil if
    /// ``compute(channels:part:_:)`` may not be called.
    var channelUnit: Int? { nil }
    /// Whether each channel of the result follows from the same one of x.
    var keepsChannels: Bool { false }
    /// Whether the threads should share channels and not rows.
    func splitsChannels(_ threads: Int) -> Bool { false }

    /// Computes some channels of the whole result, with the tail but without an epilogue.
    func compute(channels: Range<Int>, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        preconditionFailure("\(name) does not compute channels")
    }

    override func pieces(of phase: Int, threads: Int) -> Int {
        pieces(rowCount, fewest: 2, threads: threads)
    }

    /// Computes `rows`, counted over the whole batch, with the tail but without an epilogue.
    func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        preconditionFailure("\(name) does not compute rows")
    }
}

extension RowKernel {
    /// Rows of one image of the result.
    var height: Int { heights.output }

    /// The rows of the input that some rows of one image are computed from.
    func inputRows(for rows: Range<Int>) -> Range<Int> {
        let (height, size) = heights
        let image = rows.lowerBound / size
        let first = (rows.lowerBound - image * size) * Int(geometry.stride_height)
        let last = (rows.upperBound - 1 - image * size) * Int(geometry.stride_height)
        let begin = min(max(first - Int(geometry.pad_top), 0), height)
        let end = min(last - Int(geometry.pad_top) + reach, height)
        return image * height + begin..<image * height + max(end, begin)
    }

    /// The smallest number of rows that can be computed from `inputRows` rows of the input.
    func rows(from inputRows: Int) -> Int {
        max((inputRows - reach) / Int(geometry.stride_height) + 1, 1)
    }

    /// Input rows that a row of the result and the next one are both computed from.
    var overlap: Int { max(reach - Int(geometry.stride_height), 0) }

    /// The largest number of input rows for one row of the result.
    var reach: Int { Int(geometry.dilation_height * (geometry.kernel_height - 1)) + 1 }
}
