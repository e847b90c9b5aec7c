import RetintGraph
import RetintMLPackage

/// `add`; a constant vector added to a matrix product becomes the bias of `linear`.
extension Add: BinaryForm {
    package static let milType = "add"
    package static func raised(_ x: Tensor, _ y: Tensor) -> Tensor { x + y }

    package func absorbsInput(of node: LoweredNode, in lowering: MILLowering) -> Bool {
        guard let matMul = lowering.node(node.inputs[0]).operation as? MatMul else { return false }
        return matMul.isLinear(lowering.node(node.inputs[0]), lowering)
            && lowering.isUsedOnce(node.inputs[0]) && lowering.constant(node.inputs[1]) != nil
            && node.inputShapes[1] == [node.inputShapes[0][-1]]
    }

    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        guard node.absorbsInput else {
            return try lowerBinary(node, &lowering)
        }
        let product = lowering.node(node.inputs[0])
        guard let matMul = product.operation as? MatMul else { return "" }
        let bias = try lowering.operand(node.inputs[1])
        return try matMul.lowerLinear(product, bias: bias, &lowering)
    }
}

extension Subtract: BinaryForm {
    package static let milType = "sub"
    package static func raised(_ x: Tensor, _ y: Tensor) -> Tensor { x - y }
}

extension Multiply: BinaryForm {
    package static let milType = "mul"
    package static func raised(_ x: Tensor, _ y: Tensor) -> Tensor { x * y }
}

extension Divide: BinaryForm {
    package static let milType = "real_div"
    package static func raised(_ x: Tensor, _ y: Tensor) -> Tensor { x / y }
}

extension Power: BinaryForm {
    package static let milType = "pow"
    package static func raised(_ x: Tensor, _ y: Tensor) -> Tensor { pow(x, y) }
}

extension Maximum: BinaryForm {
    package static let milType = "maximum"
    package static func raised(_ x: Tensor, _ y: Tensor) -> Tensor { RetintGraph.maximum(x, y) }
}

extension Minimum: BinaryForm {
    package static let milType = "minimum"
    package static func raised(_ x: Tensor, _ y: Tensor) -> Tensor { RetintGraph.minimum(x, y) }
}

extension Absolute: UnaryForm {
    package static let milType = "abs"
    package static func raised(_ x: Tensor) -> Tensor { abs(x) }
}

/// x · −1.
extension Negate: MILLowerable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("mul", ["x": x, "y": try lowering.float(-1, name: node.name)], node)
    }
}

/// `clip`; bounds outside the range of the precision are clamped to it.
extension Clip: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let largest = lowering.largest
        func limit(_ value: Float) throws -> MILOperand {
            try lowering.float(Swift.min(Swift.max(value, -largest), largest), name: node.name)
        }
        let (low, high) = try (limit(minimum), limit(maximum))
        let x = try lowering.operand(node.inputs[0])
        return lowering.add("clip", ["x": x, "alpha": low, "beta": high], node)
    }

    package static let milTypes = ["clip"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let low = try operation.float("alpha", default: -.greatestFiniteMagnitude)
        let high = try operation.float("beta", default: .greatestFiniteMagnitude)
        return [clip(try operation.tensor("x"), min: low, max: high)]
    }
}

/// MIL arithmetic that is composed of several graph operations.
enum ComposedArithmetic: ComposedBinaryForm {
    static let functions: [String: @Sendable (Tensor, Tensor) -> Tensor] = [
        "floor_div": { floor($0 / $1) }, "mod": { $0 - floor($0 / $1) * $1 },
    ]
}

/// Unary MIL functions that are composed of several graph operations.
enum ComposedFunctions: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "square": { x, _ in x * x },
        "inverse": { x, operation in 1 / (try operation.addingEpsilon(to: x, default: 1e-4)) },
        "sign": { x, _ in greater(x, 0) - greater(0, x) },
        "threshold": { x, operation in
            maximum(x, x.scalar(try operation.float("alpha", default: 1)))
        },
    ]
}
