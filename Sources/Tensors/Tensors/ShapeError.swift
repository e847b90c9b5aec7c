/// A violated rule of an operation; the graph adds the place and throws a `GraphError`.
public struct ShapeError: Error, Hashable, Sendable {
    /// The violated rule, with the values that violate it.
    public let reason: String

    /// Creates an error; the graph adds the operation and its inputs.
    ///
    /// - Parameter reason: the violated rule, with the values that violate it.
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
