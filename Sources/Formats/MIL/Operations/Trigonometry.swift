import RetintGraph
import RetintMLPackage

extension Sine: UnaryForm {
    package static let milType = "sin"
    package static func raised(_ x: Tensor) -> Tensor { sin(x) }
}

extension Cosine: UnaryForm {
    package static let milType = "cos"
    package static func raised(_ x: Tensor) -> Tensor { cos(x) }
}

extension ArcTangent: UnaryForm {
    package static let milType = "atan"
    package static func raised(_ x: Tensor) -> Tensor { atan(x) }
}

/// `tan`.
enum ComposedTrigonometry: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "tan": { x, _ in sin(x) / cos(x) }
    ]
}
