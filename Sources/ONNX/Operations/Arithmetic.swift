import Glibc
import TensorGraph

/// Functions of two and more values, element by element.
enum Arithmetic: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Add": binary(learned: true, +, +, { $0.addingReportingOverflow($1) }),
        "Sub": binary(-, -, { $0.subtractingReportingOverflow($1) }),
        "Mul": binary(learned: true, *, *, { $0.multipliedReportingOverflow(by: $1) }),
        "Div": binary(/, /, quotient),
        "Pow": binary({ pow($0, $1) }, { powf($0, $1) }, integerPower),
        "Mod": OperationRule(modulus),
        "PRelu": OperationRule(parameters: [1]) { node in
            let x = try node.tensor(0)
            let slope = try node.tensor(1)
            return [.tensor(relu(x) + minimum(x, x.scalar(0)) * slope, try node.value(0).type)]
        },
        "Sum": OperationRule { try reduced($0, +) },
        "Mean": OperationRule { node in
            let sum = try reduced(node, +)
            return [.tensor(try node.tensor(sum[0]) / Float(node.inputs.count), sum[0].type)]
        },
        "Max": OperationRule { node in
            try extreme(node, maximum, { $0 < $1 ? $1 : $0 }, { Swift.max($0, $1) })
        },
        "Min": OperationRule { node in
            try extreme(node, minimum, { $1 < $0 ? $1 : $0 }, { Swift.min($0, $1) })
        },
    ]

    private typealias Overflowing = (partialValue: Int64, overflow: Bool)

    /// - Parameter learned: whether an operand is a parameter where it is an initializer of several
    ///   elements, such as the bias of each channel.
    private static func binary(
        learned: Bool = false, _ graph: @escaping @Sendable (Tensor, Tensor) -> Tensor,
        _ floats: @escaping @Sendable (Float, Float) -> Float,
        _ integers: @escaping @Sendable (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
    ) -> OperationRule {
        OperationRule(parameters: learned ? [0, 1] : [], learnsScalars: false) { node in
            let (a, b) = (try node.value(0), try node.value(1))
            guard let (x, y) = try node.hostPair(a, b) else {
                return [.tensor(graph(try node.tensor(a), try node.tensor(b)), a.type)]
            }
            let result = try x.combined(y, as: x.type, floats) { first, second in
                let (value, overflow) = integers(first, second)
                guard !overflow else {
                    throw node.error("\(first) and \(second) give no integer of 64 bits")
                }
                return value
            }
            return [.host(result)]
        }
    }

    @Sendable private static func quotient(_ x: Int64, _ y: Int64) -> Overflowing {
        x.dividedReportingOverflow(by: y)
    }

    @Sendable private static func integerPower(_ x: Int64, _ y: Int64) -> Overflowing {
        guard (0...64).contains(y) else { return (0, true) }
        return (0..<y).reduce((1, false)) { result, _ in
            let (value, overflow) = result.0.multipliedReportingOverflow(by: x)
            return (value, overflow || result.1)
        }
    }

    /// The remainder, of integers with the divisor's sign unless `fmod` is set.
    @Sendable private static func modulus(_ node: NodeContext) throws -> [ONNXValue] {
        let isC = try node.flag("fmod")
        let (a, b) = (try node.value(0), try node.value(1))
        if let (x, y) = try node.hostPair(a, b), !x.type.isFloat {
            let result = try x.combined(y, as: x.type, { $0.remainder(dividingBy: $1) }) {
                guard $1 != 0, $1 != -1 || $0 != .min else {
                    throw node.error("\($0) has no remainder by \($1)")
                }
                let rest = $0 % $1
                return isC || rest == 0 || (rest < 0) == ($1 < 0) ? rest : rest + $1
            }
            return [.host(result)]
        }
        let (x, y) = (try node.tensor(a), try node.tensor(b))
        let quotient = x / y
        return [.tensor(x - y * (isC ? truncated(quotient) : floor(quotient)), a.type)]
    }

    private static func reduced(
        _ node: NodeContext, _ combine: (Tensor, Tensor) -> Tensor
    ) throws -> [ONNXValue] {
        let values = try node.values()
        let tensors = try values.map(node.tensor)
        return [.tensor(tensors.dropFirst().reduce(tensors[0], combine), values[0].type)]
    }

    private static func extreme(
        _ node: NodeContext, _ graph: (Tensor, Tensor) -> Tensor,
        _ floats: (Float, Float) -> Float, _ integers: (Int64, Int64) -> Int64
    ) throws -> [ONNXValue] {
        let values = try node.values()
        return [
            try values.dropFirst().reduce(values[0]) { a, b in
                guard let (x, y) = try node.hostPair(a, b) else {
                    return .tensor(graph(try node.tensor(a), try node.tensor(b)), a.type)
                }
                return .host(x.combined(y, as: x.type, floats, integers))
            }
        ]
    }
}

/// x without its fraction.
func truncated(_ x: Tensor) -> Tensor {
    let sign = greater(x, 0) - greater(0, x)
    return sign * floor(abs(x))
}
