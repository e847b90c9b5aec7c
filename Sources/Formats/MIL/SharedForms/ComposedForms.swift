import RetintGraph
import RetintMLPackage

/// Unary MIL operations without a graph operation: raised as compositions of several.
protocol ComposedUnaryForm: MILRaisable {
    static var functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] { get }
}

extension ComposedUnaryForm {
    package static var milTypes: [String] { functions.keys.sorted() }

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        return try functions[operation.type].map { [try $0(x, operation)] } ?? []
    }
}

/// Binary MIL operations without a graph operation: raised as compositions of several.
protocol ComposedBinaryForm: MILRaisable {
    static var functions: [String: @Sendable (Tensor, Tensor) -> Tensor] { get }
}

extension ComposedBinaryForm {
    package static var milTypes: [String] { functions.keys.sorted() }

    package static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, y) = try (operation.tensor("x"), operation.tensor("y"))
        return functions[operation.type].map { [$0(x, y)] } ?? []
    }
}

extension RaisedOperation {
    /// x + ε, or x if ε is below the smallest normal float.
    func addingEpsilon(to x: Tensor, default standard: Float) throws -> Tensor {
        let epsilon = try float("epsilon", default: standard)
        return epsilon < .leastNormalMagnitude ? x : x + epsilon
    }
}
