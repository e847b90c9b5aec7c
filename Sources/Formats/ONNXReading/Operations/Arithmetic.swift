import Glibc
import RetintGraph

/// Elementwise functions of two or more values.
enum Arithmetic: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Add": binary(learned: true, +, +, { $0.addingReportingOverflow($1) }),
        "Sub": binary(-, -, { $0.subtractingReportingOverflow($1) }),
        "Mul": binary(learned: true, *, *, { $0.multipliedReportingOverflow(by: $1) }),
        "Div": OperationRule { node in
            let quotient = try combined(
                node, /, /, { $0.dividedReportingOverflow(by: $1) })
            guard case .tensor(let y, let type) = quotient, !type.isFloat else { return [quotient] }
            return [.tensor(truncated(y), type)]
        },
        "Pow": OperationRule { [try power($0)] },
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
            let values = try node.values()
            return [try values.dropFirst().reduce(values[0]) { try larger($0, $1, node) }]
        },
        "Min": OperationRule { node in
            let values = try node.values()
            return [try values.dropFirst().reduce(values[0]) { try smaller($0, $1, node) }]
        },
    ]

    private typealias Graph = @Sendable (Tensor, Tensor) -> Tensor
    private typealias Floats = @Sendable (Float, Float) -> Float
    private typealias Integers = @Sendable (Int64, Int64) -> (partialValue: Int64, overflow: Bool)

    /// - Parameter learned: whether an operand is a parameter if it is an initializer of several
    ///   elements, such as the bias of each channel.
    private static func binary(
        learned: Bool = false, _ graph: @escaping Graph, _ floats: @escaping Floats,
        _ integers: @escaping Integers
    ) -> OperationRule {
        OperationRule(parameters: learned ? [0, 1] : [], learnsScalars: false) { node in
            [try combined(node, graph, floats, integers)]
        }
    }

    /// A function of both inputs, on the host if both are known there.
    private static func combined(
        _ node: NodeContext, _ graph: Graph, _ floats: Floats, _ integers: Integers
    ) throws -> ONNXValue {
        let (a, b) = (try node.value(0), try node.value(1))
        guard let (x, y) = try node.hostPair(a, b) else {
            return .tensor(graph(try node.tensor(a), try node.tensor(b)), a.type)
        }
        let result = try x.combined(y, as: x.type, floats) { first, second in
            let (value, overflow) = integers(first, second)
            guard !overflow, x.type.range?.contains(value) ?? true else {
                throw node.error("\(first) and \(second) give no \(x.type)")
            }
            return value
        }
        return .host(result)
    }

    /// The exponent may be of another type than the base.
    private static func power(_ node: NodeContext) throws -> ONNXValue {
        let (base, exponent) = (try node.value(0), try node.value(1))
        guard case .host(let x) = base, case .host(let y) = exponent, x.elements != nil,
            y.elements != nil, x.type.isFloat != y.type.isFloat
        else {
            return try combined(node, raised, { powf($0, $1) }, integerPower)
        }
        let dimensions = try node.common(x.dimensions, y.dimensions)
        try node.takeHost(dimensions)
        let (bases, exponents) = (x.broadcast(to: dimensions), y.broadcast(to: dimensions))
        let floats = zip(bases.floats ?? [], exponents.floats ?? []).map { powf($0, $1) }
        return try Casts.cast(
            .host(ONNXTensor(floats: floats, dimensions: dimensions)), to: x.type, node)
    }

    /// Squares are a product, whose gradient needs no logarithm.
    @Sendable private static func raised(_ x: Tensor, _ exponent: Tensor) -> Tensor {
        let number =
            exponent.shape.rank <= x.shape.rank
            ? (exponent.operation as? Constant)?.data.scalars : nil
        switch number {
        case [1]: return x
        case [2]: return x * x
        case [0.5]: return sqrt(x)
        default: return pow(x, exponent)
        }
    }

    @Sendable private static func integerPower(
        _ x: Int64, _ y: Int64
    ) -> (partialValue: Int64, overflow: Bool) {
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
        if !a.type.isFloat, let (x, y) = try node.hostPair(a, b) {
            let result = try x.combined(y, as: x.type, fmodf) {
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

    static func larger(_ a: ONNXValue, _ b: ONNXValue, _ node: NodeContext) throws -> ONNXValue {
        guard let (x, y) = try node.hostPair(a, b) else {
            return .tensor(maximum(try node.tensor(a), try node.tensor(b)), a.type)
        }
        return .host(x.combined(y, as: x.type, { $0 < $1 ? $1 : $0 }, { Swift.max($0, $1) }))
    }

    static func smaller(_ a: ONNXValue, _ b: ONNXValue, _ node: NodeContext) throws -> ONNXValue {
        guard let (x, y) = try node.hostPair(a, b) else {
            return .tensor(minimum(try node.tensor(a), try node.tensor(b)), a.type)
        }
        return .host(x.combined(y, as: x.type, { $1 < $0 ? $1 : $0 }, { Swift.min($0, $1) }))
    }
}

/// x without its fraction.
func truncated(_ x: Tensor) -> Tensor {
    let sign = greater(x, 0) - greater(0, x)
    return sign * floor(abs(x))
}
