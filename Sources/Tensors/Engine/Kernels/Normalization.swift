import CRetintKernels
import RetintCompiler
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
            output: isOfPixels ? output : output.asPixels(channels: count),
            channels: Layout.channels(output.shape))
    }
}

private final class NormalizationKernel: PixelKernel {
    private let operation: RowNormalization
    private let channels: Int

    /// - Parameter channels: those of the value, whose last axes may be one row.
    init(_ operation: RowNormalization, x: Buffer, output: Buffer, channels: Int) {
        (self.operation, self.channels) = (operation, channels)
        super.init(name: operation.name, work: output.count * 2, x: x, output: output)
    }

    /// The tail has a value for each channel, and not for each element of a row.
    override var appliesTail: Bool { channels == operation.count }

    override func compute(
        pixels: Range<Int>, from x: UnsafePointer<Float>, to y: UnsafeMutablePointer<Float>
    ) {
        withTail {
            rt_normalize_rows(
                y, x, operation.count, operation.epsilon, pixels.lowerBound, pixels.upperBound, $0)
        }
    }
}
