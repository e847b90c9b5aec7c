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

/// Trigonometric and hyperbolic functions that are composed of others.
enum ComposedTrigonometry: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "tan": { x, _ in sin(x) / cos(x) },
        "asin": { x, _ in atan(x / sqrt((1 - x) * (1 + x))) },
        "acos": { x, _ in 1.570_796_4 - atan(x / sqrt((1 - x) * (1 + x))) },
        "sinh": { x, _ in (exp(x) - exp(-x)) * 0.5 },
        "cosh": { x, _ in (exp(x) + exp(-x)) * 0.5 },
        "atanh": { x, _ in log((1 + x) / (1 - x)) * 0.5 },
    ]
}
