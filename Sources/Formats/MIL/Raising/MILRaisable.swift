import RetintGraph

/// Converts MIL operations to graph operations.
package protocol MILRaisable: MILForm {
    /// The MIL operation types that this type raises.
    static var milTypes: [String] { get }

    /// The operation's outputs, in order.
    ///
    /// - Throws: ``ConversionError`` if the operation is malformed or not supported.
    static func raise(_ operation: RaisedOperation) throws -> [Tensor]
}
