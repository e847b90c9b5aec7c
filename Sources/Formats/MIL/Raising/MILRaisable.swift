import RetintGraph
import RetintMLPackage

/// Converts MIL operations to graph operations.
///
/// The build plugin `ListMILForms` collects the conforming types in the folder Operations. It reads
/// single lines, so a declaration must name its conformance on the same line
/// (`extension Relu: UnaryForm {`).
package protocol MILRaisable: SendableMetatype {
    /// The MIL operation types that this type raises.
    static var milTypes: [String] { get }

    /// The operation's outputs, in order.
    ///
    /// - Throws: ``ConversionError`` if the operation is malformed or not supported.
    static func raise(_ operation: RaisedOperation) throws -> [Tensor]
}

/// The types in the folder Operations, by MIL type. The build generates `all`.
enum MILForms {
    private static let byType = Dictionary(
        all.flatMap { form in form.milTypes.map { ($0, form) } }, uniquingKeysWith: { $1 })

    static func form(for type: String) -> (any MILRaisable.Type)? { byType[type] }
}
