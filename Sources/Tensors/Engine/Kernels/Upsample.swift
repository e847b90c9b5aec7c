import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// Interpolates a few rows at a time, so that they are in the cache for the epilogue.
private final class UpsampleKernel: FusingKernel {
    private let output: Buffer
    private let rows: BilinearRows
    private static let nearFloats = 1 << 13

    init(_ operation: UpsampleBilinear, x: Buffer, output: Buffer) {
        (self.output, rows) = (output, BilinearRows(operation, x: x))
        super.init(name: operation.name, work: output.count)
    }

    override func ownWorkspaceCount(threads: Int) -> Int { threads * rows.lineCount }

    override func pieces(of phase: Int, threads: Int) -> Int {
        pieces(output.shape[0] * output.shape[2], fewest: 4, threads: threads)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let row = output.shape[3] * output.shape[1]
        let own = part.range(output.shape[0] * output.shape[2])
        let line = workspace + part.index * rows.lineCount
        for start in stride(
            from: own.lowerBound, to: own.upperBound, by: max(Self.nearFloats / row, 1))
        {
            let end = min(start + max(Self.nearFloats / row, 1), own.upperBound)
            rows.compute(start..<end, into: output.pointer, line: line)
            finish(start * row..<end * row, thread: part.index)
        }
    }
}

extension UpsampleBilinear: EpilogueOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        UpsampleKernel(self, x: inputs[0], output: output)
    }
}

extension UpsampleBilinearGradient: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let dy = inputs[0]
        let (shape, size) = (output.shape, dy.shape)
        let (factor, align) = (upsample.factor, upsample.alignCorners)
        let rows = BilinearSamples(inputs: shape[2], factor: factor.height, alignCorners: align)
        let columns = BilinearSamples(inputs: shape[3], factor: factor.width, alignCorners: align)
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
