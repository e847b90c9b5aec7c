import RetintGraph

/// Batched matrix products. The threads share the batch, or the rows or columns of one product.
final class MatMulKernel: Kernel {
    private let operation: MatMul
    private let x: Buffer
    private let y: Buffer
    private let output: Buffer
    private let rows: Int
    private let columns: Int
    private let inner: Int
    private let batch: Int

    init(operation: MatMul, x: Buffer, y: Buffer, output: Buffer) {
        self.operation = operation
        self.x = x
        self.y = y
        self.output = output
        columns = output.shape[-1]
        inner = operation.transposeX ? x.shape[-2] : x.shape[-1]
        // The rows of a batch that shares its second factor are those of one product.
        let isOneProduct = y.shape.rank == 2 && !operation.transposeX
        rows = isOneProduct ? output.count / max(columns, 1) : output.shape[-2]
        batch = output.count / max(rows * columns, 1)
        super.init(name: MatMul.name, work: output.count * inner)
    }

    override var multiplyAdds: Int { output.count * inner }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        if batch > 1 {
            for index in part.range(batch) { multiply(index, 0..<rows, 0..<columns) }
        } else if rows >= columns {
            multiply(0, part.range(rows, unit: 8), 0..<columns)
        } else {
            multiply(0, 0..<rows, part.range(columns, unit: 16))
        }
    }

    private func multiply(_ index: Int, _ rowRange: Range<Int>, _ columnRange: Range<Int>) {
        let (tx, ty) = (operation.transposeX, operation.transposeY)
        let ldx = tx ? rows : inner
        let ldy = ty ? inner : columns
        let a = x.pointer + index * rows * inner + rowRange.lowerBound * (tx ? 1 : ldx)
        let matrix = y.shape.rank == 2 ? 0 : index * inner * columns
        let b = y.pointer + matrix + columnRange.lowerBound * (ty ? ldy : 1)
        let start = rowRange.lowerBound * columns + columnRange.lowerBound
        sgemm(
            MatrixFactor(a, stride: ldx, isTransposed: tx),
            MatrixFactor(b, stride: ldy, isTransposed: ty),
            ProductSize(rows: rowRange.count, columns: columnRange.count, depth: inner),
            to: MatrixProduct(
                output.pointer + index * rows * columns + start, stride: columns))
    }
}

extension MatMul: KernelOperation, DecomposableOperation {
    /// Rank 4 is channels-last in memory; in rank 3 the matrices are contiguous.
    func decomposed(_ inputs: [Tensor]) -> Tensor {
        func flat(_ x: Tensor) -> Tensor {
            guard x.shape.rank == 4 else { return x }
            return x.reshaped([x.shape[0] * x.shape[1], x.shape[2], x.shape[3]])
        }
        let product = inputs[0].graph.apply(self, inputs.map(flat))
        guard let shape = try? outputShape(for: inputs.map(\.shape)) else { return product }
        return product.reshaped(shape)
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        MatMulKernel(operation: self, x: inputs[0], y: inputs[1], output: output)
    }
}
