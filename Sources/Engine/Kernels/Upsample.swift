import CKernels
import TensorGraph

/// Where each output samples its input along one axis, in the form that the C loops take.
private final class Samples {
    private let inputs: Int
    private let outputs: Int
    /// The sample below, the one above, and for each input the outputs `first..<last` that read it.
    private let lower, upper, first, last: UnsafeMutablePointer<Int32>
    /// The share of the upper sample.
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

/// Interpolates a few rows at a time, so that the epilogue finds them in the cache.
private final class UpsampleKernel: FusingKernel {
    private let x, output: Buffer
    private let rows, columns: Samples
    private static let nearFloats = 1 << 13

    init(name: String, x: Buffer, output: Buffer, rows: Samples, columns: Samples) {
        (self.x, self.output, self.rows, self.columns) = (x, output, rows, columns)
        super.init(name: name, work: output.count)
    }

    private var lineCount: Int { x.shape[3] * x.shape[1] }

    override func ownWorkspaceCount(threads: Int) -> Int { threads * lineCount }

    override func pieces(of phase: Int, threads: Int) -> Int {
        pieces(output.shape[0] * output.shape[2], fewest: 4, threads: threads)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let (shape, size) = (x.shape, output.shape)
        let row = size[3] * size[1]
        let own = part.range(size[0] * size[2])
        let step = max(Self.nearFloats / row, 1)
        var (vertical, horizontal) = (rows.values, columns.values)
        for start in stride(from: own.lowerBound, to: own.upperBound, by: step) {
            let end = min(start + step, own.upperBound)
            rt_bilinear(
                output.pointer, workspace + part.index * lineCount, x.pointer, Int32(shape[2]),
                Int32(shape[3]), Int32(shape[1]), Int32(size[2]), Int32(size[3]), &vertical,
                &horizontal, start, end)
            finish(start * row..<end * row, thread: part.index)
        }
    }
}

extension UpsampleBilinear: EpilogueOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let size = inputs[0].shape
        return UpsampleKernel(
            name: name, x: inputs[0], output: output,
            rows: Samples(inputs: size[2], factor: factor.height, alignCorners: alignCorners),
            columns: Samples(inputs: size[3], factor: factor.width, alignCorners: alignCorners))
    }
}

extension UpsampleBilinearGradient: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let dy = inputs[0]
        let (shape, size) = (output.shape, dy.shape)
        let (factor, align) = (upsample.factor, upsample.alignCorners)
        let rows = Samples(inputs: shape[2], factor: factor.height, alignCorners: align)
        let columns = Samples(inputs: shape[3], factor: factor.width, alignCorners: align)
        return LoopKernel(
            name: name, work: dy.count, count: shape[0] * shape[2], scratch: size[3] * size[1]
        ) { range, line in
            var (vertical, horizontal) = (rows.values, columns.values)
            rt_bilinear_input(
                output.pointer, line, dy.pointer, Int32(shape[2]), Int32(shape[3]),
                Int32(shape[1]), Int32(size[2]), Int32(size[3]), &vertical, &horizontal,
                range.lowerBound, range.upperBound)
        }
    }
}

extension UpsampleNearest: ViewOperation {
    func view(of input: Shape, output: Shape) -> View {
        let strides = Layout.strides(input)
        return View([
            .init(extent: input[0], step: strides[0]),
            .init(extent: input[2], step: strides[2]), .init(extent: factor.height, step: 0),
            .init(extent: input[3], step: strides[3]), .init(extent: factor.width, step: 0),
            .init(extent: input[1], step: 1),
        ])
    }
}
