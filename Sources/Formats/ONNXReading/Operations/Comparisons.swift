import RetintGraph

/// Comparisons and logic; a value of the graph is 1 for true, and 0 for false.
enum Comparisons: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Equal": comparison(equal, { $0 == $1 }, { $0 == $1 }),
        "Greater": comparison(greater, { $0 > $1 }, { $0 > $1 }),
        "GreaterOrEqual": comparison(greaterOrEqual, { $0 >= $1 }, { $0 >= $1 }),
        "Less": comparison({ greater($1, $0) }, { $0 < $1 }, { $0 < $1 }),
        "LessOrEqual": comparison({ greaterOrEqual($1, $0) }, { $0 <= $1 }, { $0 <= $1 }),
        "And": comparison(*, { $0 * $1 != 0 }, { $0 & $1 != 0 }),
        "Or": comparison(maximum, { $0 + $1 != 0 }, { $0 | $1 != 0 }),
        "Xor": comparison({ abs($0 - $1) }, { $0 != $1 }, { $0 != $1 }),
        "Not": OperationRule { node in
            let value = try node.value(0)
            guard case .host(let tensor) = value, case .int64(let values) = tensor.elements else {
                return [.tensor(1 - (try node.tensor(value)), .bool)]
            }
            return [.host(.init(.bool, tensor.dimensions, .int64(values.map { $0 == 0 ? 1 : 0 })))]
        },
        "Where": OperationRule(choice),
    ]

    private static func comparison(
        _ graph: @escaping @Sendable (Tensor, Tensor) -> Tensor,
        _ floats: @escaping @Sendable (Float, Float) -> Bool,
        _ integers: @escaping @Sendable (Int64, Int64) -> Bool
    ) -> OperationRule {
        OperationRule { node in
            let (a, b) = (try node.value(0), try node.value(1))
            guard let (x, y) = try node.hostPair(a, b) else {
                return [.tensor(graph(try node.tensor(a), try node.tensor(b)), .bool)]
            }
            let result = x.combined(y, as: .bool, { floats($0, $1) ? 1 : 0 }) {
                integers($0, $1) ? 1 : 0
            }
            return [.host(result)]
        }
    }

    @Sendable private static func choice(_ node: NodeContext) throws -> [ONNXValue] {
        let (condition, a, b) = (try node.value(0), try node.value(1), try node.value(2))
        if let (x, y) = try node.hostPair(a, b), case .host(let flags) = condition,
            let truths = flags.integers
        {
            let dimensions = try node.common(flags.dimensions, x.dimensions)
            try node.takeHost(dimensions)
            let (first, second) = (x.broadcast(to: dimensions), y.broadcast(to: dimensions))
            let chosen =
                ONNXTensor(.bool, flags.dimensions, .int64(truths.map { Int64($0) }))
                .broadcast(to: dimensions).integers ?? []
            switch (first.elements, second.elements) {
            case (.float32(let p), .float32(let q)):
                let values = chosen.indices.map { chosen[$0] != 0 ? p[$0] : q[$0] }
                return [.host(.init(x.type, dimensions, .float32(values)))]
            case (.int64(let p), .int64(let q)):
                let values = chosen.indices.map { chosen[$0] != 0 ? p[$0] : q[$0] }
                return [.host(.init(x.type, dimensions, .int64(values)))]
            default: break
            }
        }
        let flags = try node.tensor(condition)
        return [.tensor(select(flags, try node.tensor(a), try node.tensor(b)), a.type)]
    }
}
