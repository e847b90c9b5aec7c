import RetintGraph
import RetintMLPackage
import RetintTensors

/// Constants of a stated shape, and running sums and bands of matrices.
enum Filling: MILRaisable {
    static let milTypes = ["band_part", "cumsum", "fill", "fill_like", "one_hot", "range_1d"]

    /// The longest axis of a running sum, which is a product with a triangular matrix.
    private static let longestAxis = 1 << 13

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        switch operation.type {
        case "fill": [try filled(operation, try operation.requiredIntegers("shape"))]
        case "fill_like":
            [try filled(operation, try operation.tensor("ref_tensor").shape.dimensions)]
        case "range_1d": [try range(operation)]
        case "one_hot": [try oneHot(operation)]
        case "cumsum": [try runningSum(operation)]
        default: [try band(operation)]
        }
    }

    private static func filled(_ operation: RaisedOperation, _ sizes: [Int]) throws -> Tensor {
        let value = try operation.float("value", default: 0)
        guard Shape(sizes).boundedCount != nil else {
            throw operation.error("a shape of \(sizes) is not supported")
        }
        let scalar = operation.graph.constant(value)
        return sizes.isEmpty ? scalar : scalar.broadcast(to: Shape(sizes))
    }

    private static func range(_ operation: RaisedOperation) throws -> Tensor {
        let (start, end) = try (operation.float("start", default: 0), operation.float("end"))
        let step = try operation.float("step", default: 1)
        let count = ((end - start) / step).rounded(.up)
        guard step != 0, (1...0x1p24).contains(count) else {
            throw operation.error("a range from \(start) to \(end) by \(step) is not supported")
        }
        try operation.values.take(Int(count))
        let values = (0..<Int(count)).map { start + Float($0) * step }
        return operation.graph.constant(TensorData(shape: [values.count], scalars: values))
    }

    private static func oneHot(_ operation: RaisedOperation) throws -> Tensor {
        let indices = try operation.tensor("indices")
        let size = try operation.integer("one_hot_vector_size")
        let rank = indices.shape.rank + 1
        let axis = try operation.axis("axis", rank: rank, default: -1)
        guard (1...1 << 20).contains(size), rank <= Shape.maximumRank else {
            throw operation.error("vectors of \(size) elements are not supported")
        }
        var (spread, sizes) = (indices.shape.dimensions, [Int](repeating: 1, count: rank))
        spread.insert(1, at: axis)
        sizes[axis] = size
        try operation.values.take(size)
        let places = TensorData(shape: Shape(sizes), scalars: (0..<size).map(Float.init))
        let hit = equal(
            indices.reshaped(Shape(spread)), operation.graph.constant(places))
        let (on, off) = try (
            operation.float("on_value", default: 1), operation.float("off_value", default: 0)
        )
        return on == 1 && off == 0 ? hit : select(hit, hit.scalar(on), hit.scalar(off))
    }

    private static func runningSum(_ operation: RaisedOperation) throws -> Tensor {
        let x = try operation.tensor("x")
        let axis = try operation.axis("axis", rank: x.shape.rank, default: 0)
        let size = x.shape[axis]
        guard size <= longestAxis else {
            throw operation.error("sums of more than \(longestAxis) elements are not supported")
        }
        try operation.values.take(size * size)
        let isExclusive = try operation.bool("exclusive", default: false)
        let isReverse = try operation.bool("reverse", default: false)
        let rows = (0..<size).flatMap { row in
            (0..<size).map { column -> Float in
                let distance = isReverse ? column - row : row - column
                return distance > 0 || distance == 0 && !isExclusive ? 1 : 0
            }
        }
        let triangle = operation.graph.constant(
            TensorData(shape: [size, size], scalars: rows))
        var order = Array(0..<x.shape.rank)
        order.swapAt(axis, x.shape.rank - 1)
        let moved = x.transposed(order)
        let flat = moved.reshaped([x.shape.count / size, size])
        return matmul(flat, triangle, transposeY: true).reshaped(moved.shape).transposed(order)
    }

    private static func band(_ operation: RaisedOperation) throws -> Tensor {
        let x = try operation.tensor("x")
        guard x.shape.rank >= 2 else { throw operation.error("\(x.shape) is not a matrix") }
        let lower = try operation.integer("lower", default: -1)
        let upper = try operation.integer("upper", default: -1)
        let (rows, columns) = (x.shape[x.shape.rank - 2], x.shape[x.shape.rank - 1])
        guard rows * columns <= longestAxis * longestAxis else {
            throw operation.error("matrices of \(rows)×\(columns) are not supported")
        }
        try operation.values.take(rows * columns)
        let mask = (0..<rows).flatMap { row in
            (0..<columns).map { column -> Float in
                let isKept =
                    (lower < 0 || row - column <= lower) && (upper < 0 || column - row <= upper)
                return isKept ? 1 : 0
            }
        }
        let kept = operation.graph.constant(TensorData(shape: [rows, columns], scalars: mask))
        return select(kept.broadcast(to: x.shape), x, x.scalar(0))
    }
}
