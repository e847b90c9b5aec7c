import RetintGraph
import RetintMLPackage

/// `select`; parameters that are not selected may be infinite.
enum Selection: MILRaisable {
    static let milTypes = ["select"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let (x, y) = (try operation.tensor("a"), try operation.tensor("b"))
        return [select(try operation.tensor("cond"), x, y)]
    }
}
