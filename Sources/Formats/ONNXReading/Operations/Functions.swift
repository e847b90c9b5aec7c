import RetintGraph

/// Functions of one value, element by element.
enum Functions: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Abs": unary(abs, { Swift.abs($0) }, { $0 == .min ? .max : Swift.abs($0) }),
        "Neg": unary({ -$0 }, { -$0 }, { 0 &- $0 }),
        "Floor": unary(floor, { $0.rounded(.down) }, { $0 }),
        "Ceil": unary({ -floor(-$0) }, { $0.rounded(.up) }, { $0 }),
        "Round": unary(round, { $0.rounded(.toNearestOrEven) }, { $0 }),
        "Sqrt": unary(sqrt, { $0.squareRoot() }),
        "Reciprocal": unary({ 1 / $0 }, { 1 / $0 }),
        "Sign": unary({ greater($0, 0) - greater(0, $0) }, { $0 > 0 ? 1 : $0 < 0 ? -1 : 0 }),
        "Exp": unary(exp), "Log": unary(log),
        "Sin": unary(sin), "Cos": unary(cos), "Atan": unary(atan),
        "Tan": unary { sin($0) / cos($0) },
        "Asin": unary { atan($0 / sqrt(1 - $0 * $0)) },
        "Acos": unary { 1.570_796_4 - atan($0 / sqrt(1 - $0 * $0)) },
        "Sinh": unary { (exp($0) - exp(-$0)) * 0.5 },
        "Cosh": unary { (exp($0) + exp(-$0)) * 0.5 },
        // Of the magnitude, so that small differences of large numbers do not count.
        "Asinh": unary { x in
            let size = abs(x)
            return (greater(x, 0) - greater(0, x)) * log(size + sqrt(size * size + 1))
        },
        "Acosh": unary { log($0 + sqrt($0 * $0 - 1)) },
        "Atanh": unary { log((1 + $0) / (1 - $0)) * 0.5 },
        "Erf": unary(erf),
        "IsNaN": OperationRule { node in
            let x = try node.tensor(0)
            return [.tensor(1 - equal(x, x), .bool)]
        },
        "IsInf": OperationRule { node in
            let x = try node.tensor(0)
            let above =
                try node.flag("detect_positive", default: true)
                ? equal(x, x.scalar(.infinity)) : x.scalar(0)
            let below =
                try node.flag("detect_negative", default: true)
                ? equal(x, x.scalar(-.infinity)) : x.scalar(0)
            return [.tensor((above + below).broadcast(to: x.shape), .bool)]
        },
        "Clip": OperationRule(clip),
        "Identity": OperationRule { [try $0.value(0)] },
        // As in inference: the graph draws no random numbers.
        "Dropout": OperationRule { node in
            try node.requireOneOutput()
            if node.optional(2) != nil, try node.number(2) != 0 {
                throw node.error("training_mode is not supported")
            }
            return [try node.value(0)]
        },
    ]

    /// - Parameters:
    ///   - floats: the function on the host; computed by the graph if nil.
    ///   - integers: the same for integers.
    private static func unary(
        _ graph: @escaping @Sendable (Tensor) -> Tensor,
        _ floats: (@Sendable (Float) -> Float)? = nil,
        _ integers: (@Sendable (Int64) -> Int64)? = nil
    ) -> OperationRule {
        OperationRule { node in
            let value = try node.value(0)
            if case .host(let tensor) = value {
                switch (tensor.elements, floats, integers) {
                case (.float32(let values), let floats?, _):
                    try node.takeHost(tensor.dimensions)
                    return [
                        .host(.init(tensor.type, tensor.dimensions, .float32(values.map(floats))))
                    ]
                case (.int64(let values), _, let integers?):
                    try node.takeHost(tensor.dimensions)
                    return [
                        .host(.init(tensor.type, tensor.dimensions, .int64(values.map(integers))))
                    ]
                default: break
                }
            }
            return [.tensor(graph(try node.tensor(value)), value.type)]
        }
    }

    @Sendable private static func clip(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        let (low, high) = (try limit(1, "min", node), try limit(2, "max", node))
        if case .tensor(let x, let type) = value, case .host(let first) = low,
            case .host(let last) = high, let low = first.floats?.first,
            let high = last.floats?.first, first.count * last.count == 1, low <= high
        {
            return [.tensor(RetintGraph.clip(x, min: low, max: high), type)]
        }
        let raised = try low.map { try Arithmetic.larger(value, $0, node) } ?? value
        return [try high.map { try Arithmetic.smaller(raised, $0, node) } ?? raised]
    }

    /// A limit, which was an attribute before opset 11.
    private static func limit(
        _ index: Int, _ attribute: String, _ node: NodeContext
    ) throws -> ONNXValue? {
        if let given = node.optional(index) { return given }
        guard node.has(attribute) else { return nil }
        let limit = try node.float(attribute, default: 0)
        return .host(ONNXTensor(floats: [limit], dimensions: []))
    }
}
