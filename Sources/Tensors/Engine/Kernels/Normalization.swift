import CRetintKernels
import RetintGraph
import RetintTensors

/// (x − mean) / √(variance + epsilon) of rows that lie together in memory: layer normalization
/// before its scale and shift. ``NormalizationFusion`` replaces the formula by it.
struct RowNormalization: EpilogueOperation {
    static let name = "layer_norm"
    /// Elements of a row.
    let count: Int
    let epsilon: Float

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return inputs[0]
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        // Of images, the rows of the kernel are those of the image if it normalizes pixels.
        let isOfPixels = output.shape.rank == 4 && output.shape[1] == count
        return NormalizationKernel(
            self, x: isOfPixels ? inputs[0] : inputs[0].asPixels(channels: count),
            output: isOfPixels ? output : output.asPixels(channels: count))
    }
}

private final class NormalizationKernel: RowKernel {
    private let operation: RowNormalization
    /// Elements that stay in a core's cache for the epilogue.
    private static let nearFloats = 1 << 13

    init(_ operation: RowNormalization, x: Buffer, output: Buffer) {
        self.operation = operation
        super.init(
            name: operation.name, work: output.count * 2, geometry: .pixelByPixel, x: x,
            output: output)
    }

    override var chains: Bool { true }
    override var appliesTail: Bool { true }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let count = operation.count
        let own = part.range(output.count / count)
        let step = max(Self.nearFloats / count, 1)
        for row in stride(from: own.lowerBound, to: own.upperBound, by: step) {
            let end = min(row + step, own.upperBound)
            normalize(row..<end, from: x.pointer, to: output.pointer)
            finish(row * count..<end * count, thread: part.index)
        }
    }

    override func compute(
        _ rows: Range<Int>, at addresses: Addresses, part: Part,
        _ workspace: UnsafeMutablePointer<Float>
    ) {
        let width = output.shape[3]
        normalize(
            rows.lowerBound * width..<rows.upperBound * width, from: addresses.x, to: addresses.y)
    }

    private func normalize(
        _ pixels: Range<Int>, from x: UnsafePointer<Float>, to y: UnsafeMutablePointer<Float>
    ) {
        withTail {
            rt_normalize_rows(
                y, x, operation.count, operation.epsilon, pixels.lowerBound, pixels.upperBound, $0)
        }
    }
}

extension Buffer {
    /// The same memory as one image whose pixels have `channels` channels each.
    func asPixels(channels: Int) -> Buffer {
        let pixels = count / channels
        // Rows of few pixels, so that kernels can pass them on in the cache.
        let width = (1...64).last { pixels.isMultiple(of: $0) } ?? 1
        return Buffer(
            shape: [1, channels, pixels / width, width], storage: storage, offset: offset)
    }
}
