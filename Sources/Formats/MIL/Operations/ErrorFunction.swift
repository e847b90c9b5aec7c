import RetintGraph
import RetintMLPackage

/// `erf`.
enum ErrorFunction: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "erf": { x, _ in errorFunction(x) }
    ]
}
