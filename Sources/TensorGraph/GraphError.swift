/// Why a graph cannot be built, differentiated or run.
///
/// Names the operation, the module that applied it and the shapes it was applied to.
public struct GraphError: Error, Hashable, Sendable {
    /// The operation's name, as in ``Operation/name``.
    public let operation: String
    /// The dotted path of the module that applied the operation; empty outside modules.
    public let module: String
    public let inputShapes: [Shape]
    /// The rule that was broken, with its numbers.
    public let reason: String

    public init(operation: String, module: String = "", inputShapes: [Shape] = [], reason: String) {
        self.operation = operation
        self.module = module
        self.inputShapes = inputShapes
        self.reason = reason
    }
}

extension GraphError: CustomStringConvertible {
    public var description: String {
        let place = module.isEmpty ? operation : "\(operation) in \(module)"
        guard !inputShapes.isEmpty else { return "\(place): \(reason)" }
        let shapes = inputShapes.map(\.description).joined(separator: ", ")
        return "\(place): \(reason) (inputs: \(shapes))"
    }
}

/// A broken shape rule: what an ``Operation`` throws; the graph adds where it happened.
public struct ShapeError: Error, Hashable, Sendable {
    public let reason: String

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
