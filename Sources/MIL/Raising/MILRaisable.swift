import MLPackage
import TensorGraph

/// How operations of MIL become operations of the graph.
///
/// A conforming type in the folder Operations is found by the build: the plugin `ListMILForms`
/// writes the list of them, so a declaration names its form on the same line
/// (`extension Relu: UnaryForm {`).
package protocol MILRaisable: SendableMetatype {
    /// The types of MIL's operations that it raises.
    static var milTypes: [String] { get }

    /// The operation's outputs, in order.
    static func raise(_ operation: RaisedOperation) throws -> [Tensor]
}

/// The forms in the folder Operations, by MIL type. The build generates `all`.
enum MILForms {
    private static let byType = Dictionary(
        all.flatMap { form in form.milTypes.map { ($0, form) } }, uniquingKeysWith: { $1 })

    static func form(for type: String) -> (any MILRaisable.Type)? { byType[type] }
}
