import CRetintKernels
import RetintCompiler
import RetintGraph

/// Interpolates rows of an upsampled image.
final class BilinearRows {
    private let x: Buffer
    private let size: Pair
    private let rows, columns: BilinearSamples

    init(_ upsample: UpsampleBilinear, x: Buffer) {
        self.x = x
        let (shape, factor, align) = (x.shape, upsample.factor, upsample.alignCorners)
        size = Pair(shape[2] * factor.height, shape[3] * factor.width)
        rows = BilinearSamples(inputs: shape[2], factor: factor.height, alignCorners: align)
        columns = BilinearSamples(inputs: shape[3], factor: factor.width, alignCorners: align)
    }

    /// The workspace of ``compute(_:into:line:)`` in floats.
    var lineCount: Int { x.shape[3] * x.shape[1] }

    /// Computes some rows, counted over the batch; `y` is where row 0 would be.
    func compute(
        _ range: Range<Int>, into y: UnsafeMutablePointer<Float>, line: UnsafeMutablePointer<Float>
    ) {
        var (vertical, horizontal) = (rows.values, columns.values)
        rt_bilinear(
            y, line, x.pointer, Int32(x.shape[2]), Int32(x.shape[3]), Int32(x.shape[1]),
            Int32(size.height), Int32(size.width), &vertical, &horizontal, range.lowerBound,
            range.upperBound)
    }
}

/// Where each output samples its input along one axis, in the representation of the C loops.
final class BilinearSamples {
    private let inputs: Int
    private let outputs: Int
    /// The sample below, the one above, and for each input the outputs `first..<last` that read it.
    private let lower, upper, first, last: UnsafeMutablePointer<Int32>
    /// The weight of the upper sample.
    private let weight: UnsafeMutablePointer<Float>

    init(inputs: Int, factor: Int, alignCorners: Bool) {
        (self.inputs, outputs) = (inputs, inputs * factor)
        lower = .allocate(capacity: outputs)
        upper = .allocate(capacity: outputs)
        weight = .allocate(capacity: outputs)
        first = .allocate(capacity: inputs)
        last = .allocate(capacity: inputs)
        first.initialize(repeating: Int32(outputs), count: inputs)
        last.initialize(repeating: 0, count: inputs)
        for output in 0..<outputs { sample(output, alignCorners) }
    }

    deinit {
        for indices in [lower, upper, first, last] { indices.deallocate() }
        weight.deallocate()
    }

    var values: rt_samples {
        rt_samples(lower: lower, upper: upper, weight: weight, first: first, last: last)
    }

    private func sample(_ output: Int, _ alignCorners: Bool) {
        let source = source(output, alignCorners)
        let low = min(Int(source), inputs - 1)
        let high = min(low + 1, inputs - 1)
        (lower + output).initialize(to: Int32(low))
        (upper + output).initialize(to: Int32(high))
        (weight + output).initialize(to: Float(source - Double(low)))
        for input in [low, high] {
            first[input] = min(first[input], Int32(output))
            last[input] = max(last[input], Int32(output + 1))
        }
    }

    private func source(_ output: Int, _ alignCorners: Bool) -> Double {
        if alignCorners {
            return outputs > 1 ? Double(output * (inputs - 1)) / Double(outputs - 1) : 0
        }
        return max((Double(output) + 0.5) * Double(inputs) / Double(outputs) - 0.5, 0)
    }
}
