import RetintGraph
import RetintMLPackage

/// Comparisons and logic; booleans are represented as the floats 0 and 1.
enum Comparisons: ComposedBinaryForm {
    static let functions: [String: @Sendable (Tensor, Tensor) -> Tensor] = [
        "greater": { greater($0, $1) }, "greater_equal": { greaterOrEqual($0, $1) },
        "less": { greater($1, $0) }, "less_equal": { greaterOrEqual($1, $0) },
        "equal": { equal($0, $1) }, "not_equal": { 1 - equal($0, $1) },
        "logical_and": { minimum($0, $1) }, "logical_or": { maximum($0, $1) },
    ]
}

/// `logical_not`.
enum Negation: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "logical_not": { x, _ in 1 - x }
    ]
}
