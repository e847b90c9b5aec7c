import RetintGraph
import RetintMLPackage

/// `crop` of the last two axes.
enum Crop: MILRaisable {
    static let milTypes = ["crop"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let rows = try operation.requiredIntegers("crop_height", count: 2)
        let columns = try operation.requiredIntegers("crop_width", count: 2)
        guard x.shape.rank >= 2 else { throw operation.error("two axes are needed") }
        let lead = [Int](repeating: 0, count: x.shape.rank - 2)
        var end = x.shape.dimensions
        end[end.count - 2] -= rows[1]
        end[end.count - 1] -= columns[1]
        return [x.sliced(from: lead + [rows[0], columns[0]], to: end)]
    }
}
