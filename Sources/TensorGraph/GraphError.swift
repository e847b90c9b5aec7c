public import Files

/// Why a graph cannot be built, differentiated, compiled or run.
public typealias GraphError = Refusal<GraphProblem>

/// The operation whose rule is broken, and what it was applied to.
public struct GraphProblem: RefusalKind {
    /// The operation's name, as in ``Operation/name``.
    public let operation: String
    /// The dotted path of the module that applied the operation; empty outside modules.
    public let module: String
    /// The shapes that the operation was applied to; empty if they do not matter.
    public let inputShapes: [Shape]
    /// The rule that was broken, with the values that broke it.
    public let reason: String

    /// That of the program that built the graph: files are checked before they become one.
    public var fault: Fault { .failure }
}

extension GraphError {
    /// An error with these parts.
    public init(operation: String, module: String = "", inputShapes: [Shape] = [], reason: String) {
        let shapes = inputShapes.map(\.description).joined(separator: ", ")
        self.init(
            GraphProblem(
                operation: operation, module: module, inputShapes: inputShapes, reason: reason),
            place: module.isEmpty ? operation : "\(operation) in \(module)",
            rule: inputShapes.isEmpty ? reason : "\(reason) (inputs: \(shapes))")
    }

    /// The operation's name, as in ``Operation/name``.
    public var operation: String { kind.operation }
    /// The dotted path of the module that applied the operation; empty outside modules.
    public var module: String { kind.module }
    /// The shapes that the operation was applied to; empty if they do not matter.
    public var inputShapes: [Shape] { kind.inputShapes }
    /// The rule that was broken, with the values that broke it.
    public var reason: String { kind.reason }
}

/// A broken rule of an ``Operation``; the graph adds where it happened and throws a ``GraphError``.
public struct ShapeError: Error, Hashable, Sendable {
    /// The rule that was broken, with the values that broke it.
    public let reason: String

    /// Creates an error; the graph adds the operation and its inputs.
    ///
    /// - Parameter reason: the rule that was broken, with the values that broke it.
    public init(_ reason: String) {
        self.reason = reason
    }
}

/// Throws a ``ShapeError`` unless `condition` holds.
package func require(
    _ condition: Bool, _ reason: @autoclosure () -> String
) throws(ShapeError) {
    if !condition { throw ShapeError(reason()) }
}
