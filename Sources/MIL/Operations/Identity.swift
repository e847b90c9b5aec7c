import MLPackage
import TensorGraph

/// Operations that only rename or cast a value.
enum Identity: MILRaisable {
    static let milTypes = ["identity", "cast"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        if operation.type == "cast" {
            let type = try operation.string("dtype", default: "")
            guard ["fp16", "fp32"].contains(type) else {
                throw operation.error("a cast to \"\(type)\" is not supported")
            }
        }
        return [try operation.tensor("x")]
    }
}
