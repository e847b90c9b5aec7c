import RetintGraph
import RetintMLPackage

/// `split` into equal parts or parts of given sizes.
enum Split: MILRaisable {
    static let milTypes = ["split"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        let axis = try operation.axis("axis", rank: x.shape.rank)
        let sizes = try sizes(operation, extent: x.shape[axis])
        guard sizes.allSatisfy({ $0 > 0 && $0 <= x.shape[axis] }),
            sizes.reduce(0, +) == x.shape[axis]
        else { throw operation.error("sizes \(sizes) do not add up to axis \(axis) of \(x.shape)") }
        var start = 0
        return sizes.map { size in
            defer { start += size }
            return x.sliced(axis: axis, start..<(start + size))
        }
    }

    private static func sizes(_ operation: RaisedOperation, extent: Int) throws -> [Int] {
        if let sizes = try operation.integers("split_sizes") { return sizes }
        let count = try operation.integer("num_splits")
        guard count >= 1, count <= extent, extent % count == 0 else {
            throw operation.error("\(extent) cannot be split into \(count) equal parts")
        }
        return [Int](repeating: extent / count, count: count)
    }
}
