import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

/// softmax(q·kᵀ·scale + mask)·v of matrices, the last two axes of row-major values
/// (`torch.nn.functional.scaled_dot_product_attention`). Inputs: q [..., L, D], k [..., S, D],
/// v [..., S, E], any of them with its matrices transposed, and maybe a mask that can be broadcast
/// to [..., L, S]. ``AttentionFusion`` replaces the formula by it.
///
/// The result is [..., L, heads, E]: the order in which networks join the heads, the last of the
/// leading axes.
struct Attention: KernelOperation {
    static let name = "attention"
    let transposesQ, transposesK, transposesV: Bool
    let scale: Float
    /// The views of q, k and v that are read; empty before ``MovementComposition``.
    var views: [Strides] = []

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 3...4)
        let shapes = views.isEmpty ? Array(inputs.prefix(3)) : views.map(\.shape)
        let (q, v) = (shapes[0], shapes[2])
        try require(q.rank >= 3, "needs an axis for the heads")
        return Shape(
            q.dimensions.dropLast(3)
                + [q[transposesQ ? -1 : -2], q[-3], v[transposesV ? -2 : -1]])
    }

    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        AttentionKernel(self, inputs, output: output)
    }
}

extension Attention: MatrixOperation {
    func applied(to graph: Graph, _ operands: [StridedValue]) -> Tensor {
        var operation = self
        operation.views = operands.prefix(3).map(\.strides)
        let masks = operands.dropFirst(3).map(\.value)
        return graph.apply(operation, operands.prefix(3).map(\.source) + masks)
    }
}

/// The threads share blocks of rows of the scores, which never leave the cache.
private final class AttentionKernel: Kernel {
    private let scale: Float
    private let q, k, v: MatrixBatch
    private let output: Buffer
    private let mask: (buffer: Buffer, view: rt_view)?
    private let batch, heads, rows, depth, columns, width: Int
    /// Rows of a block.
    private let block: Int
    /// Floats from one row of scores to the next: whole vectors.
    private let stride: Int

    /// Floats of a block's scores, at most if it has more rows than the fewest.
    private static let nearFloats = 1 << 16
    /// Fewer rows would not be worth the packing of k and v.
    private static let fewestRows = 48

    init(_ operation: Attention, _ inputs: [Buffer], output: Buffer) {
        let views = operation.views
        (scale, self.output) = (operation.scale, output)
        q = MatrixBatch(inputs[0], views[0], transposes: operation.transposesQ)
        k = MatrixBatch(inputs[1], views[1], transposes: !operation.transposesK)
        v = MatrixBatch(inputs[2], views[2], transposes: operation.transposesV)
        (rows, heads, width) = (output.shape[-3], output.shape[-2], output.shape[-1])
        depth = views[0].shape[operation.transposesQ ? -2 : -1]
        columns = views[1].shape[operation.transposesK ? -1 : -2]
        batch = output.count / (rows * width)
        block = min(max(Self.nearFloats / columns, Self.fewestRows), rows)
        stride = (columns + Int(RT_HALF) - 1) / Int(RT_HALF) * Int(RT_HALF)
        let scores = Shape(views[0].shape.dimensions.dropLast(2) + [rows, columns])
        mask = inputs.dropFirst(3).first.map {
            ($0, Strides($0.shape).broadcast(to: scores).view.cView)
        }
        super.init(name: operation.name, work: batch * rows * columns * (depth + width))
    }

    override var multiplyAdds: Int { work }

    private var blocks: Int { (rows + block - 1) / block }
    private var scoresCount: Int { block * stride }
    private var maskCount: Int { mask == nil ? 0 : block * columns }

    override func workspaceCount(threads: Int) -> Int { threads * (scoresCount + maskCount) }

    override func pieces(of phase: Int, threads: Int) -> Int { min(batch * blocks / threads, 4) }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let scores = workspace + part.index * (scoresCount + maskCount)
        for item in part.range(batch * blocks) {
            let (matrix, block) = item.quotientAndRemainder(dividingBy: blocks)
            let first = block * self.block
            compute(matrix, first..<min(first + self.block, rows), scores)
        }
    }

    private func compute(
        _ matrix: Int, _ range: Range<Int>, _ scores: UnsafeMutablePointer<Float>
    ) {
        sgemm(
            q.factor(matrix, row: range.lowerBound), k.factor(matrix),
            ProductSize(rows: range.count, columns: columns, depth: depth),
            to: MatrixProduct(scores, stride: stride, isPadded: true))
        rt_softmax_rows(
            scores, stride, columns, range.count, scale, maskRows(matrix, range, scores))
        let (image, head) = matrix.quotientAndRemainder(dividingBy: heads)
        let pixel = (image * rows + range.lowerBound) * heads + head
        sgemm(
            MatrixFactor(scores, stride: stride), v.factor(matrix),
            ProductSize(rows: range.count, columns: width, depth: columns),
            to: MatrixProduct(output.pointer + pixel * width, stride: heads * width))
    }

    /// The rows of the mask, behind the scores.
    private func maskRows(
        _ matrix: Int, _ range: Range<Int>, _ scores: UnsafeMutablePointer<Float>
    ) -> UnsafePointer<Float>? {
        guard let mask else { return nil }
        var view = mask.view
        rt_gather(
            scores + scoresCount, mask.buffer.pointer, &view,
            (matrix * rows + range.lowerBound) * columns, range.count * columns)
        return UnsafePointer(scores + scoresCount)
    }
}
