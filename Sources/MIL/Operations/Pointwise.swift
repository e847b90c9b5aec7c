import MLPackage
import TensorGraph

/// A function of one number that MIL has as it is.
protocol UnaryMIL: MILLowerable {
    static var milType: String { get }
}

extension UnaryMIL {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        lowering.add(Self.milType, ["x": try lowering.operand(node.inputs[0])], node)
    }
}

extension Relu: UnaryMIL { static let milType = "relu" }
extension Relu6: UnaryMIL { static let milType = "relu6" }
extension Sigmoid: UnaryMIL { static let milType = "sigmoid" }
extension Tanh: UnaryMIL { static let milType = "tanh" }
extension Exp: UnaryMIL { static let milType = "exp" }
extension SquareRoot: UnaryMIL { static let milType = "sqrt" }
extension Absolute: UnaryMIL { static let milType = "abs" }
extension Floor: UnaryMIL { static let milType = "floor" }
extension Round: UnaryMIL { static let milType = "round" }
extension Sine: UnaryMIL { static let milType = "sin" }
extension Cosine: UnaryMIL { static let milType = "cos" }
extension ArcTangent: UnaryMIL { static let milType = "atan" }

/// x · −1.
extension Negate: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("mul", ["x": x, "y": try lowering.float(-1, name: node.name)], node)
    }
}

/// `log`, whose ε keeps zeros away unless told not to.
extension Log: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        let epsilon = try lowering.float(0, name: node.name)
        return lowering.add("log", ["x": x, "epsilon": epsilon], node)
    }
}

/// `clip`; limits that the precision does not hold are no limits.
extension Clip: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let largest = lowering.largest
        func limit(_ value: Float) throws -> MILOperand {
            try lowering.float(Swift.min(Swift.max(value, -largest), largest), name: node.name)
        }
        let (low, high) = try (limit(minimum), limit(maximum))
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("clip", ["x": x, "alpha": low, "beta": high], node)
    }
}

/// `leaky_relu`.
extension LeakyRelu: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let slope = try lowering.float(negativeSlope, name: node.name)
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("leaky_relu", ["x": x, "alpha": slope], node)
    }
}

/// x times `sigmoid_hard`: MIL has no operation for the whole.
extension HardSwish: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        let gate = lowering.add(
            "sigmoid_hard",
            [
                "x": x, "alpha": try lowering.float(1 / 6, name: node.name),
                "beta": try lowering.float(0.5, name: node.name),
            ], node)
        return lowering.add("mul", ["x": x, "y": .name(gate)], node)
    }
}

/// Functions of one number without parameters.
enum PointwiseRule: MILRaisable {
    private static let functions: [String: @Sendable (Tensor) -> Tensor] = [
        "exp": { exp($0) }, "exp2": { exp($0 * 0.693_147_2) }, "sqrt": { sqrt($0) },
        "abs": { abs($0) }, "square": { $0 * $0 }, "erf": errorFunction,
        "floor": { floor($0) }, "ceil": { -floor(-$0) }, "round": { round($0) },
        "sin": { sin($0) }, "cos": { cos($0) }, "tan": { sin($0) / cos($0) },
        "atan": { atan($0) },
    ]

    static var milTypes: [String] { functions.keys + ["log", "rsqrt", "inverse", "clip"] }

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        switch operation.type {
        case "log": return [log(try shifted(x, operation, .leastNonzeroMagnitude))]
        case "rsqrt": return [1 / sqrt(try shifted(x, operation, 1e-12))]
        case "inverse": return [1 / (try shifted(x, operation, 1e-4))]
        case "clip":
            let low = try operation.float("alpha", default: -.greatestFiniteMagnitude)
            let high = try operation.float("beta", default: .greatestFiniteMagnitude)
            return [clip(x, min: low, max: high)]
        default: return functions[operation.type].map { [$0(x)] } ?? []
        }
    }

    /// x + ε, or x where ε is too small to matter.
    private static func shifted(
        _ x: Tensor, _ operation: RaisedOperation, _ standard: Float
    ) throws -> Tensor {
        let epsilon = try operation.float("epsilon", default: standard)
        return epsilon < .leastNormalMagnitude ? x : x + epsilon
    }

    /// erf by Abramowitz and Stegun 7.1.26, within 1.5e-7.
    @Sendable static func errorFunction(_ x: Tensor) -> Tensor {
        let magnitude = abs(x)
        let t = 1 / (magnitude * 0.327_591_1 + 1)
        let coefficients: [Float] = [
            1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592,
        ]
        let polynomial = coefficients.dropFirst().reduce(t * coefficients[0]) { ($0 + $1) * t }
        let sign = greater(x, 0) - greater(0, x)
        return sign * (1 - polynomial * exp(-(magnitude * magnitude)))
    }
}
