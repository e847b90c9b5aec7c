import RetintGraph
import RetintMLPackage
import RetintTensors

/// Operations that move elements between axes, or take some, and that reshapes, transposes and
/// slices express.
enum Rearrangement: MILRaisable {
    static let milTypes = [
        "batch_to_space", "depth_to_space", "flatten2d", "slice_by_size",
        "slice_update", "sliding_windows", "space_to_batch", "space_to_depth",
    ]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        let x = try operation.tensor("x")
        switch operation.type {
        case "depth_to_space", "space_to_depth": return [try blocks(operation, x)]
        case "batch_to_space", "space_to_batch": return [try batches(operation, x)]
        case "flatten2d":
            let axis = try operation.axis("axis", rank: x.shape.rank, default: 1)
            let rows = x.shape.dimensions.prefix(axis).reduce(1, *)
            return [x.reshaped([rows, x.shape.count / rows])]
        case "slice_by_size":
            let begin = try operation.requiredIntegers("begin", count: x.shape.rank)
            let sizes = try operation.requiredIntegers("size", count: x.shape.rank)
            let end = begin.indices.map {
                sizes[$0] == -1 ? x.shape[$0] : begin[$0] &+ sizes[$0]
            }
            return [x.sliced(from: begin, to: end)]
        case "slice_update": return [try updated(operation, x)]
        default: return [try windows(operation, x)]
        }
    }

    /// Blocks of pixels from channels, or to channels: the block's row, its column, the channel.
    private static func blocks(_ operation: RaisedOperation, _ x: Tensor) throws -> Tensor {
        try operation.requireImage(x)
        let size = try operation.factor("block_size")
        let s = x.shape
        if operation.type == "depth_to_space" {
            guard s[1] % (size * size) == 0 else { throw operation.error("\(s) has no blocks") }
            return x.reshaped([s[0], size, size, s[1] / (size * size), s[2], s[3]])
                .transposed([0, 3, 4, 1, 5, 2])
                .reshaped([s[0], s[1] / (size * size), s[2] * size, s[3] * size])
        }
        guard s[2] % size == 0, s[3] % size == 0 else {
            throw operation.error("\(s) has no blocks")
        }
        return x.reshaped([s[0], s[1], s[2] / size, size, s[3] / size, size])
            .transposed([0, 3, 5, 1, 2, 4])
            .reshaped([s[0], s[1] * size * size, s[2] / size, s[3] / size])
    }

    private static func batches(_ operation: RaisedOperation, _ x: Tensor) throws -> Tensor {
        try operation.requireImage(x)
        let block = try operation.requiredIntegers("block_shape", count: 2)
        guard block.allSatisfy((1...1 << 12).contains) else {
            throw operation.error("a block of \(block) is out of range")
        }
        let s = x.shape
        if operation.type == "space_to_batch" {
            let pads = try operation.requiredIntegers("paddings", count: 4)
            let padded = x.padded(
                before: [0, 0, pads[0], pads[2]], after: [0, 0, pads[1], pads[3]], value: 0)
            guard padded.shape.rank == 4, padded.shape[2] % block[0] == 0,
                padded.shape[3] % block[1] == 0
            else { throw operation.error("\(s) does not consist of blocks of \(block)") }
            let (rows, columns) = (padded.shape[2] / block[0], padded.shape[3] / block[1])
            return padded.reshaped([s[0], s[1], rows, block[0], columns, block[1]])
                .transposed([3, 5, 0, 1, 2, 4])
                .reshaped([s[0] * block[0] * block[1], s[1], rows, columns])
        }
        let crops = try operation.requiredIntegers("crops", count: 4)
        guard s[0] % (block[0] * block[1]) == 0 else {
            throw operation.error("\(s) does not consist of blocks of \(block)")
        }
        let count = s[0] / (block[0] * block[1])
        let whole = x.reshaped([block[0], block[1], count, s[1], s[2], s[3]])
            .transposed([2, 3, 4, 0, 5, 1])
            .reshaped([count, s[1], s[2] * block[0], s[3] * block[1]])
        guard whole.shape.rank == 4 else { return whole }
        return whole.sliced(
            from: [0, 0, crops[0], crops[2]],
            to: [count, s[1], whole.shape[2] &- crops[1], whole.shape[3] &- crops[3]])
    }

    /// x with a part replaced.
    private static func updated(_ operation: RaisedOperation, _ x: Tensor) throws -> Tensor {
        let update = try operation.tensor("update")
        let axes = try operation.slicedAxes(of: x.shape.dimensions)
        guard axes.stride.allSatisfy({ $0 >= 1 }) else {
            throw operation.error("strides below 1 are not supported")
        }
        return try x.replacingSlice(
            from: axes.begin, to: axes.end, stride: axes.stride, with: update)
    }

    private static func windows(_ operation: RaisedOperation, _ x: Tensor) throws -> Tensor {
        let axis = try operation.axis("axis", rank: x.shape.rank)
        let size = try operation.integer("size")
        let stride = try operation.integer("stride", default: 1)
        guard (1...Swift.min(x.shape[axis], 4096)).contains(size), stride >= 1,
            x.shape.rank < Shape.maximumRank
        else { throw operation.error("windows of \(size) do not fit axis \(axis) of \(x.shape)") }
        let count = (x.shape[axis] - size) / stride + 1
        let parts = (0..<size).map { element in
            var (begin, end) = ([Int](repeating: 0, count: x.shape.rank), x.shape.dimensions)
            var steps = [Int](repeating: 1, count: x.shape.rank)
            (begin[axis], end[axis]) = (element, element + (count - 1) * stride + 1)
            steps[axis] = stride
            var shape = x.shape.dimensions
            shape.replaceSubrange(axis...axis, with: [count, 1])
            return x.sliced(from: begin, to: end, stride: steps).reshaped(Shape(shape))
        }
        return parts.count == 1 ? parts[0] : concat(parts, axis: axis + 1)
    }
}
