import MLPackage
import TensorGraph

/// Comparisons and what is done with them; truth values are carried as 0 and 1.
enum ComparisonRule: MILRaisable {
    private static let functions: [String: @Sendable (Tensor, Tensor) -> Tensor] = [
        "greater": { greater($0, $1) }, "greater_equal": { greaterOrEqual($0, $1) },
        "less": { greater($1, $0) }, "less_equal": { greaterOrEqual($1, $0) },
        "equal": equal, "not_equal": { 1 - equal($0, $1) },
        "logical_and": { minimum($0, $1) }, "logical_or": { maximum($0, $1) },
    ]

    static var milTypes: [String] { functions.keys.sorted() }

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, y) = try (operation.tensor("x"), operation.tensor("y"))
        return functions[operation.type].map { [$0(x, y)] } ?? []
    }

    @Sendable private static func equal(_ x: Tensor, _ y: Tensor) -> Tensor {
        greaterOrEqual(x, y) * greaterOrEqual(y, x)
    }
}

/// What depends on how numbers compare.
enum ChoiceRule: MILRaisable {
    static let milTypes = ["select", "logical_not", "sign", "threshold"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        if operation.type == "select" { return [try select(operation)] }
        let x = try operation.tensor("x")
        switch operation.type {
        case "logical_not": return [1 - x]
        case "sign": return [greater(x, 0) - greater(0, x)]
        default: return [maximum(x, x.scalar(try operation.float("alpha", default: 1)))]
        }
    }

    /// Products with 0 and 1: what is infinite would leave NaN behind.
    private static func select(_ operation: RaisedOperation) throws -> Tensor {
        for parameter in ["a", "b"] {
            let numbers = try operation.knownConstant(parameter)?.floats() ?? []
            guard numbers.allSatisfy(\.isFinite) else {
                throw operation.error("its parameter \(parameter) has to be finite")
            }
        }
        let isFirst = try operation.tensor("cond")
        return isFirst * (try operation.tensor("a")) + (1 - isFirst) * (try operation.tensor("b"))
    }
}

extension RaisedOperation {
    /// A parameter's value where it is a float constant.
    fileprivate func knownConstant(_ parameter: String) throws -> MILValue? {
        let value: MILValue? =
            switch operation.inputs[parameter]?.first {
            case .value(let value): value
            case .name(let name): values.constant(name)
            case nil: nil
            }
        return value.flatMap { $0.type.dataType.isFloat ? $0 : nil }
    }
}
