import RetintGraph
import RetintMLPackage

extension Exp: UnaryForm {
    package static let milType = "exp"
    package static func raised(_ x: Tensor) -> Tensor { exp(x) }
}

extension SquareRoot: UnaryForm {
    package static let milType = "sqrt"
    package static func raised(_ x: Tensor) -> Tensor { sqrt(x) }
}

/// `log`, with ε = 0 instead of MIL's default.
extension Log: MILLowerable, MILRaisable {
    package func lower(_ node: LoweredNode, into lowering: inout MILLowering) throws -> String {
        let x = try lowering.operand(node.inputs[0])
        let epsilon = try lowering.float(0, name: node.name)
        return lowering.add("log", ["x": x, "epsilon": epsilon], node)
    }

    package static let milTypes = ["log"]

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        return [log(try operation.addingEpsilon(to: x, default: .leastNonzeroMagnitude))]
    }
}

/// `exp2` and `rsqrt`.
enum ComposedExponentials: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "exp2": { x, _ in exp(x * 0.693_147_2) },
        "rsqrt": { x, operation in
            1 / sqrt(try operation.addingEpsilon(to: x, default: 1e-12))
        },
    ]
}

extension ErrorFunction: UnaryForm {
    package static let milType = "erf"
    package static func raised(_ x: Tensor) -> Tensor { erf(x) }
}
