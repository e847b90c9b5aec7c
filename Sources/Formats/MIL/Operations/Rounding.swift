import RetintGraph
import RetintMLPackage

extension Floor: UnaryForm {
    package static let milType = "floor"
    package static func raised(_ x: Tensor) -> Tensor { floor(x) }
}

extension Round: UnaryForm {
    package static let milType = "round"
    package static func raised(_ x: Tensor) -> Tensor { round(x) }
}

/// `ceil`.
enum ComposedRounding: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "ceil": { x, _ in -floor(-x) }
    ]
}
