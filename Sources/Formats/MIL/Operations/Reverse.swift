import RetintGraph
import RetintMLPackage

/// `reverse`.
enum Reverse: MILRaisable {
    static let milTypes = ["reverse"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let given = try operation.integers("axes") ?? Array(0..<x.shape.rank)
        let axes = try operation.axes(given, rank: x.shape.rank)
        guard axes.allSatisfy({ x.shape[$0] <= Picking.maximumCount }) else {
            throw operation.error(
                "reversing more than \(Picking.maximumCount) elements is not supported")
        }
        return [axes.reduce(x) { $0.picked((0..<$0.shape[$1]).reversed(), axis: $1) }]
    }
}
