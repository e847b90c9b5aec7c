import RetintGraph

extension Formula {
    /// The formula as an expression of C.
    ///
    /// - Parameter operands: the expressions of the operands' elements.
    func source(_ operands: [String]) -> String {
        switch self {
        case .operand(let index): operands[index]
        case .number(let number): Self.literal(Float(number))
        case .unary(let function, let x): function.source(x.source(operands))
        case .binary(let function, let x, let y):
            function.source(x.source(operands), y.source(operands))
        case .ifPositive(let condition, let x, let y):
            "(\(condition.source(operands)) > 0.0f ? \(x.source(operands)) : "
                + "\(y.source(operands)))"
        }
    }

    /// The shortest decimal that is read back as the same float.
    private static func literal(_ value: Float) -> String {
        if value.isNaN { return "RT_NAN" }
        if value.isInfinite { return value < 0 ? "(-RT_INFINITY)" : "RT_INFINITY" }
        return value.sign == .minus ? "(\(value)f)" : "\(value)f"
    }
}

extension Formula.Unary {
    fileprivate func source(_ x: String) -> String {
        switch self {
        case .negative: "(-\(x))"
        case .absolute: "fabsf(\(x))"
        case .squareRoot: "sqrtf(\(x))"
        case .exp: "expf(\(x))"
        case .log: "logf(\(x))"
        case .erf: "erff(\(x))"
        case .sin: "sinf(\(x))"
        case .cos: "cosf(\(x))"
        case .atan: "atanf(\(x))"
        case .tanh: "tanhf(\(x))"
        case .floor: "floorf(\(x))"
        case .round: "rintf(\(x))"
        case .roundToHalf: "rt_round_to_half(\(x))"
        }
    }
}

extension Formula.Binary {
    fileprivate func source(_ x: String, _ y: String) -> String {
        switch self {
        case .add: "(\(x) + \(y))"
        case .subtract: "(\(x) - \(y))"
        case .multiply: "(\(x) * \(y))"
        case .divide: "(\(x) / \(y))"
        case .power: "powf(\(x), \(y))"
        case .maximum: "rt_max(\(x), \(y))"
        case .minimum: "rt_min(\(x), \(y))"
        case .greater: "(\(x) > \(y) ? 1.0f : 0.0f)"
        case .greaterOrEqual: "(\(x) >= \(y) ? 1.0f : 0.0f)"
        case .equal: "(\(x) == \(y) ? 1.0f : 0.0f)"
        }
    }
}
