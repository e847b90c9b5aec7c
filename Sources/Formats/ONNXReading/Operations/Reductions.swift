import RetintGraph
import RetintTensorFiles
import RetintTensors

/// Reductions along some axes.
enum Reductions: OperationFamily {
    static let rules: [String: OperationRule] = [
        "ReduceSum": reduction({ $0.sum(axes: $1, keepDims: $2) }, { $0.reduce(0, &+) }),
        "ReduceMean": reduction { $0.mean(axes: $1, keepDims: $2) },
        "ReduceMax": reduction({ $0.max(axes: $1, keepDims: $2) }, { $0.max() ?? 0 }),
        "ReduceMin": reduction(
            { -((-$0).max(axes: $1, keepDims: $2)) }, { $0.min() ?? 0 }),
        "ReduceProd": reduction(product, { $0.reduce(1, &*) }),
        "ReduceL1": reduction { abs($0).sum(axes: $1, keepDims: $2) },
        "ReduceL2": reduction { sqrt(($0 * $0).sum(axes: $1, keepDims: $2)) },
        "ReduceSumSquare": reduction { ($0 * $0).sum(axes: $1, keepDims: $2) },
        "ReduceLogSum": reduction { log($0.sum(axes: $1, keepDims: $2)) },
        "ReduceLogSumExp": reduction { x, axes, keepDims in
            let peak = x.max(axes: axes, keepDims: true)
            let sum = log(exp(x - peak).sum(axes: axes, keepDims: true)) + peak
            return keepDims ? sum : sum.sum(axes: axes, keepDims: false)
        },
    ]

    /// - Parameter integers: the same for integers, on the host.
    private static func reduction(
        _ graph: @escaping @Sendable (Tensor, [Int], Bool) throws -> Tensor,
        _ integers: (@Sendable ([Int64]) -> Int64)? = nil
    ) -> OperationRule {
        OperationRule { node in
            let value = try node.value(0)
            let rank = value.dimensions.count
            let given = try node.integers(1, or: "axes") ?? []
            if given.isEmpty, try node.flag("noop_with_empty_axes") { return [value] }
            let axes = given.isEmpty ? Array(0..<rank) : try node.axes(given, rank: rank)
            let keepDims = try node.flag("keepdims", default: true)
            if case .host(let tensor) = value, case .int64(let values) = tensor.elements,
                let integers
            {
                return [.host(reduced(tensor, values, axes, keepDims, integers))]
            }
            guard !axes.isEmpty else { return [.tensor(try node.tensor(value), value.type)] }
            return [.tensor(try graph(try node.tensor(value), axes.sorted(), keepDims), value.type)]
        }
    }

    private static func reduced(
        _ tensor: ONNXTensor, _ values: [Int64], _ axes: [Int], _ keepDims: Bool,
        _ combine: ([Int64]) -> Int64
    ) -> ONNXTensor {
        let (dimensions, strides) = (tensor.dimensions, tensor.shape.strides)
        let kept = dimensions.indices.filter { !axes.contains($0) }
        let inner = ONNXTensor.positions(
            axes.map { dimensions[$0] }, strides: axes.map { strides[$0] })
        let outer = ONNXTensor.positions(
            kept.map { dimensions[$0] }, strides: kept.map { strides[$0] })
        let results = outer.map { start in combine(inner.map { values[start + $0] }) }
        let shape =
            keepDims
            ? dimensions.indices.map { axes.contains($0) ? 1 : dimensions[$0] }
            : kept.map { dimensions[$0] }
        return ONNXTensor(tensor.type, shape, .int64(results))
    }

    private static let longestProduct = 256

    /// The graph has no such reduction: slices are multiplied, which is fine for a few.
    @Sendable private static func product(
        _ x: Tensor, _ axes: [Int], _ keepDims: Bool
    ) throws -> Tensor {
        let whole = try axes.reduce(x) { x, axis in
            try require(
                x.shape[axis] <= longestProduct,
                "a product of more than \(longestProduct) elements is not supported")
            let slices = (0..<x.shape[axis]).map { x.sliced(axis: axis, $0..<($0 + 1)) }
            return slices.dropFirst().reduce(slices[0], *)
        }
        return keepDims ? whole : whole.sum(axes: axes, keepDims: false)
    }
}
