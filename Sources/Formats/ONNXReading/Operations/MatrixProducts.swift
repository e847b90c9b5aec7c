import RetintGraph
import RetintTensors

/// Products of matrices.
enum MatrixProducts: OperationFamily {
    static let rules: [String: OperationRule] = [
        "MatMul": OperationRule(parameters: [0, 1]) { node in
            let last = Swift.max(0, try node.value(1).dimensions.count - 1)
            let (a, b) = (try node.input(0, ofWeight: 1), try node.weight(1, outputAxis: last))
            return [.tensor(try product(a, b, node), try node.value(0).type)]
        },
        "Gemm": OperationRule(parameters: [0, 1, 2], gemm),
    ]

    /// α·A·B + β·C, of matrices that may be transposed.
    @Sendable private static func gemm(_ node: NodeContext) throws -> [ONNXValue] {
        let isTransposed = try node.flag("transB")
        var y = matmul(
            try node.input(0, ofWeight: 1), try node.weight(1, outputAxis: isTransposed ? 0 : 1),
            transposeX: try node.flag("transA"), transposeY: isTransposed)
        let (alpha, beta) = (
            try node.float("alpha", default: 1), try node.float("beta", default: 1)
        )
        if alpha != 1 { y = y * alpha }
        if let c = try node.optionalTensor(2) { y = y + (beta == 1 ? c : c * beta) }
        return [.tensor(y, try node.value(0).type)]
    }

    /// Like numpy's matmul: vectors are rows on the left and columns on the right, and leading axes
    /// are broadcast.
    private static func product(_ a: Tensor, _ b: Tensor, _ node: NodeContext) throws -> Tensor {
        guard a.shape.rank > 0, b.shape.rank > 0 else {
            throw node.error("a scalar is not a matrix", ONNXError.damaged)
        }
        if a.shape.rank == 1 {
            let y = try product(a.reshaped([1, a.shape[0]]), b, node)
            return y.reshaped(
                Shape(removing(y.shape.dimensions, fromEnd: b.shape.rank == 1 ? 1 : 2)))
        }
        if b.shape.rank == 1 {
            let y = try product(a, b.reshaped([b.shape[0], 1]), node)
            return y.reshaped(Shape(removing(y.shape.dimensions, fromEnd: 1)))
        }
        guard b.shape.rank > 2, a.shape.dimensions.dropLast(2) != b.shape.dimensions.dropLast(2)
        else { return matmul(a, b) }
        let lead = try node.common(
            Array(a.shape.dimensions.dropLast(2)), Array(b.shape.dimensions.dropLast(2)))
        return matmul(
            a.broadcast(to: Shape(lead + a.shape.dimensions.suffix(2))),
            b.broadcast(to: Shape(lead + b.shape.dimensions.suffix(2))))
    }

    private static func removing(_ dimensions: [Int], fromEnd index: Int) -> [Int] {
        guard dimensions.count >= index else { return dimensions }
        var result = dimensions
        result.remove(at: dimensions.count - index)
        return result
    }
}
