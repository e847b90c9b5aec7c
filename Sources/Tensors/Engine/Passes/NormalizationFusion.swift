import RetintCompiler
import RetintGraph
import RetintTensors

/// Replaces the formula of normalization over axes that lie together in memory,
/// (x − mean x) / √(mean (x − mean x)² + ε), by one operation that reads x once.
struct NormalizationFusion: GraphPass {
    static let name = "fuse normalizations"

    func run(on input: GraphPassInput) -> GraphPassResult {
        let pattern = GraphPattern(input)
        return GraphRewrite.run(on: input) { rewrite, id in
            normalization(id, pattern).map { rewrite.copy(of: $0.x).applying($0.fused) }
        }
    }

    /// The normalization whose result a node is, and its input.
    private func normalization(
        _ id: Int, _ pattern: GraphPattern
    ) -> (fused: RowNormalization, x: Int)? {
        guard let (centered, root) = quotient(id, pattern),
            let (variance, epsilon) = variance(root, pattern),
            let spread = pattern.operation(variance, as: Mean.self), pattern.isUsed(variance, 1),
            let square = pattern.inputs(variance).first, pattern.isUsed(square, 1),
            isSquare(square, of: centered, pattern),
            pattern.operation(centered, as: Subtract.self) != nil,
            let mean = pattern.inputs(centered).last, pattern.isUsed(mean, 1),
            let average = pattern.operation(mean, as: Mean.self), average.keepDims,
            let x = pattern.inputs(mean).first, pattern.inputs(centered)[0] == x,
            pattern.shape(id) == pattern.shape(x), pattern.isUsed(centered, 2), spread.keepDims,
            let count = rowLength(pattern.shape(x), average),
            rowLength(pattern.shape(x), spread) == count
        else { return nil }
        return (RowNormalization(count: count, epsilon: epsilon), x)
    }

    /// The dividend and the root that it is divided by.
    private func quotient(_ id: Int, _ pattern: GraphPattern) -> (centered: Int, root: Int)? {
        let inputs = pattern.inputs(id)
        if pattern.operation(id, as: Divide.self) != nil { return (inputs[0], inputs[1]) }
        guard pattern.operation(id, as: Multiply.self) != nil else { return nil }
        // By the reciprocal of the root.
        for (first, second) in pattern.eitherOrder(id) {
            if pattern.operation(second, as: Divide.self) != nil, pattern.isUsed(second, 1),
                pattern.constant(pattern.inputs(second)[0]) == 1
            {
                return (first, pattern.inputs(second)[1])
            }
        }
        return nil
    }

    /// The variance under a root, and what is added to it.
    private func variance(_ root: Int, _ pattern: GraphPattern) -> (operand: Int, constant: Float)?
    {
        guard pattern.operation(root, as: SquareRoot.self) != nil, pattern.isUsed(root, 1),
            let sum = pattern.inputs(root).first, pattern.isUsed(sum, 1),
            pattern.operation(sum, as: Add.self) != nil
        else { return nil }
        return pattern.withConstant(pattern.inputs(sum))
    }

    private func isSquare(_ id: Int, of value: Int, _ pattern: GraphPattern) -> Bool {
        pattern.operation(id, as: Multiply.self) != nil && pattern.inputs(id) == [value, value]
    }

    /// The elements of a row, if the reduced axes are the last in memory.
    private func rowLength(_ shape: Shape, _ reduction: Mean) -> Int? {
        guard let reduced = try? reduction.reducedAxes(of: shape) else { return nil }
        let order = Layout.axes(rank: shape.rank).filter { shape[$0] != 1 }
        let inner = order.suffix(order.count { reduced.contains($0) })
        guard !inner.isEmpty, inner.allSatisfy(reduced.contains) else { return nil }
        return inner.reduce(1) { $0 * shape[$1] }
    }
}
