import RetintCompiler
import RetintGraph
import RetintTensors

/// Replaces the formula of attention, softmax(q·kᵀ·scale + mask)·v, by one operation whose scores
/// stay in the cache. The formula may be of the transposed matrices: v·softmax(k·qᵀ).
struct AttentionFusion: GraphPass {
    static let name = "fuse attention"

    func run(on input: GraphPassInput) -> GraphPassResult {
        let pattern = GraphPattern(input)
        return GraphRewrite.run(on: input) { rewrite, id in
            attention(id, pattern)?.applied(to: rewrite)
        }
    }

    /// The attention whose result a node is.
    private func attention(_ id: Int, _ pattern: GraphPattern) -> Formula? {
        guard let product = pattern.operation(id, as: MatMul.self) else { return nil }
        let inputs = pattern.inputs(id)
        if !product.transposeX,
            let scores = Scores(of: inputs[0], axis: -1, pattern)
        {
            return Formula(
                scores, v: inputs[1], transposesV: product.transposeY, isTransposed: false)
        }
        guard !product.transposeY, pattern.shape(inputs[0]).rank == pattern.shape(inputs[1]).rank,
            let scores = Scores(of: inputs[1], axis: -2, pattern), scores.mask == nil
        else { return nil }
        return Formula(
            scores, v: inputs[0], transposesV: !product.transposeX, isTransposed: true)
    }
}

/// softmax(x·y·scale + mask) along an axis of the matrices.
private struct Scores {
    let x, y: Int
    let product: MatMul
    private(set) var scale: Float = 1
    let mask: Int?

    /// - Returns: nil if a node is something else, or is needed elsewhere.
    init?(of id: Int, axis: Int, _ pattern: GraphPattern) {
        let rank = pattern.shape(id).rank
        guard rank >= 3, let softmax = pattern.operation(id, as: Softmax.self),
            softmax.axis == axis || softmax.axis == rank + axis, pattern.isUsed(id, 1)
        else { return nil }
        for sum in Self.sums(pattern.inputs(id)[0], pattern) {
            var scale: Float = 1
            let scores = Self.unscaled(sum.scores, &scale, pattern)
            guard let product = pattern.operation(scores, as: MatMul.self),
                pattern.isUsed(scores, 1), pattern.shape(scores).rank == rank
            else { continue }
            (self.product, mask) = (product, sum.mask)
            let inputs = pattern.inputs(scores)
            x = Self.unscaled(inputs[0], &scale, pattern)
            y = Self.unscaled(inputs[1], &scale, pattern)
            guard pattern.shape(y).rank == rank else { return nil }
            self.scale = scale
            return
        }
        return nil
    }

    /// The scores and the mask that a node may be the sum of.
    private static func sums(
        _ id: Int, _ pattern: GraphPattern
    ) -> [(scores: Int, mask: Int?)] {
        guard pattern.operation(id, as: Add.self) != nil, pattern.isUsed(id, 1) else {
            return [(id, nil)]
        }
        return pattern.eitherOrder(id).filter { pattern.shape($0.first) == pattern.shape(id) }
            .map { ($0.first, $0.second) }
    }

    /// The value whose multiple a node is; the node itself if it is none, or is needed elsewhere.
    private static func unscaled(_ id: Int, _ scale: inout Float, _ pattern: GraphPattern) -> Int {
        guard pattern.isUsed(id, 1) else { return id }
        let inputs = pattern.inputs(id)
        if pattern.operation(id, as: Divide.self) != nil,
            let divisor = pattern.constant(inputs[1]),
            pattern.shape(inputs[0]) == pattern.shape(id)
        {
            scale /= divisor
            return inputs[0]
        }
        guard pattern.operation(id, as: Multiply.self) != nil,
            let (value, factor) = pattern.withConstant(inputs),
            pattern.shape(value) == pattern.shape(id)
        else { return id }
        scale *= factor
        return value
    }
}

/// An attention with its inputs.
private struct Formula {
    let operation: Attention
    let inputs: [Int]
    /// Whether the result is that of the operation, transposed.
    let isTransposed: Bool

    init(_ scores: Scores, v: Int, transposesV: Bool, isTransposed: Bool) {
        self.isTransposed = isTransposed
        let (first, second) = isTransposed ? (scores.y, scores.x) : (scores.x, scores.y)
        let (tx, ty) = (scores.product.transposeX, scores.product.transposeY)
        operation = Attention(
            transposesQ: isTransposed ? !ty : tx, transposesK: isTransposed ? tx : !ty,
            transposesV: transposesV, scale: scores.scale)
        inputs = [first, second, v] + (scores.mask.map { [$0] } ?? [])
    }

    func applied(to rewrite: GraphRewrite) -> Tensor {
        let result = rewrite.target.apply(operation, inputs.map(rewrite.copy(of:)))
        // [..., L, heads, E] to [..., heads, L, E], or to [..., heads, E, L].
        let last = result.shape.rank - 1
        let order = isTransposed ? [last - 1, last, last - 2] : [last - 1, last - 2, last]
        return result.transposed(Array(0..<last - 2) + order)
    }
}
