import RetintGraph
import RetintTensors

/// Softmax along an axis; over all axes from one on before opset 13.
enum Softmaxes: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Softmax": normalized { softmax($0, axis: $1) },
        "LogSoftmax": normalized { logSoftmax($0, axis: $1) },
    ]

    private static func normalized(
        _ function: @escaping @Sendable (Tensor, Int) -> Tensor
    ) -> OperationRule {
        OperationRule { node in
            let (x, type) = (try node.tensor(0), try node.value(0).type)
            let rank = x.shape.rank
            guard rank > 0 else { throw node.error("a scalar has no axis") }
            let isFlat = node.opset < 13
            let axis = try node.axis(
                try node.integer("axis", default: isFlat ? Swift.min(1, rank - 1) : -1), rank: rank)
            let rest = Array(x.shape.dimensions[axis...])
            guard isFlat, rest.dropFirst().contains(where: { $0 > 1 }) else {
                return [.tensor(function(x, axis), type)]
            }
            let rows = Shape([x.shape.count / rest.reduce(1, *), rest.reduce(1, *)])
            return [.tensor(function(x.reshaped(rows), 1).reshaped(x.shape), type)]
        }
    }
}
