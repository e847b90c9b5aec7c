import RetintGraph
import RetintTensors

/// Linear functions of each vector along an axis, such as resizing and running sums.
extension NodeContext {
    /// The longest vector that is multiplied by a matrix.
    private static let longestSide = 1 << 13

    /// x with each vector along an axis replaced by its product with a constant matrix.
    ///
    /// - Parameters:
    ///   - count: the number of elements of a product.
    ///   - entries: the matrix's entries in the row of an element of the product; entries in one
    ///     column are added.
    func product(
        _ x: Tensor, axis: Int, to count: Int,
        _ entries: (_ row: Int) -> [(column: Int, weight: Double)]
    ) throws -> Tensor {
        let size = x.shape[axis]
        guard Swift.max(count, size) <= Self.longestSide else {
            throw error("over \(Self.longestSide) elements along an axis are not supported")
        }
        try takeHost([count, size])
        var weights = [Float](repeating: 0, count: count * size)
        for row in 0..<count {
            for entry in entries(row) { weights[row * size + entry.column] += Float(entry.weight) }
        }
        let matrix = graph.constant(TensorData(shape: [count, size], scalars: weights))
        guard x.shape.rank > 1 else {
            return matmul(x.reshaped([1, size]), matrix, transposeY: true).reshaped([count])
        }
        var order = Array(0..<x.shape.rank)
        order.swapAt(axis, x.shape.rank - 1)
        let isLast = axis == x.shape.rank - 1
        let y = matmul(isLast ? x : x.transposed(order), matrix, transposeY: true)
        return isLast ? y : y.transposed(order)
    }
}
