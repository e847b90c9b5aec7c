/// A broken rule of an operation; the graph adds where it happened and throws a `GraphError`.
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
