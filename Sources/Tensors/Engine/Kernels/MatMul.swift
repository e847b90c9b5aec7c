import RetintCompiler
import RetintGraph
import RetintTensors

/// The product of the matrices of two values, each of which may be a view. Inputs: the values whose
/// memory the views read.
struct BatchedProduct: KernelOperation {
    static let name = MatMul.name
    let x, y: Strides
    let transposeX, transposeY: Bool

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        return Shape(
            x.shape.dimensions.dropLast(2)
                + [x.shape[transposeX ? -1 : -2], y.shape[transposeY ? -2 : -1]])
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        MatMulKernel(
            x: MatrixBatch(inputs[0], x, transposes: transposeX),
            y: MatrixBatch(inputs[1], y, transposes: transposeY), output: output,
            inner: x.shape[transposeX ? -2 : -1])
    }
}

/// Batched matrix products. The threads share the batch, or the rows or columns of one product.
private final class MatMulKernel: Kernel {
    private let x, y: MatrixBatch
    private let output: Buffer
    private let rows, columns, inner, batch: Int

    init(x: MatrixBatch, y: MatrixBatch, output: Buffer, inner: Int) {
        (self.x, self.y, self.output, self.inner) = (x, y, output, inner)
        (rows, columns) = (output.shape[-2], output.shape[-1])
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
        let start = rowRange.lowerBound * columns + columnRange.lowerBound
        sgemm(
            x.factor(index, row: rowRange.lowerBound),
            y.factor(index, column: columnRange.lowerBound),
            ProductSize(rows: rowRange.count, columns: columnRange.count, depth: inner),
            to: MatrixProduct(output.pointer + index * rows * columns + start, stride: columns))
    }
}

extension MatMul: MatrixOperation {
    func applied(to graph: Graph, _ operands: [StridedValue]) -> Tensor {
        let (x, y) = (operands[0], operands[1])
        func product(_ x: StridedValue) -> Tensor {
            let operation = BatchedProduct(
                x: x.strides, y: y.strides, transposeX: transposeX, transposeY: transposeY)
            return graph.apply(operation, [x.source, y.source])
        }
        // The rows of a batch that shares its second factor are those of one product.
        let shape = x.strides.shape
        let rows: Shape = [shape.count / shape[-1], shape[-1]]
        guard y.strides.shape.rank == 2, !transposeX,
            let flat = x.strides.reshaped(rows), MatrixBatch.canBe(flat)
        else { return product(x) }
        let result = StridedValue(product(x.with(flat)))
        let whole = Shape(shape.dimensions.dropLast() + [result.strides.shape[-1]])
        return result.with(result.strides.reshaped(whole) ?? result.strides).value
    }
}
