import RetintEngine

/// Quantizes a part of a weight feature by feature and propagates each error to the features that
/// follow (GPTQ).
struct ErrorFeedback {
    let part: WeightPart
    /// Feature indices, most important first.
    let order: [Int]
    /// The Cholesky factor of the inverse Hessian, rows and columns in that order; nil to round
    /// without compensation.
    let factor: DenseMatrix?
    /// The number of features whose errors are applied to the later features at once.
    private static let blockSize = 128

    /// Replaces the elements of this part in `values`, the whole weight.
    func round(_ values: inout [Float], _ replacement: (Float, _ index: Int) -> Float) {
        var pending = sortedMatrix(values)
        for start in stride(from: 0, to: order.count, by: Self.blockSize) {
            let block = start..<min(start + Self.blockSize, order.count)
            var errors = DenseMatrix(rows: block.count, columns: part.rows.count)
            for position in block {
                let error = replace(position, of: pending, in: &values, replacement)
                guard let factor else { continue }
                errors.setRow(position - start, to: error)
                pending.subtract(
                    error, times: factor, at: position, inRows: position + 1..<block.upperBound)
            }
            if let factor { pending.subtract(errors, times: factor, block: block) }
        }
    }

    /// The elements of this part [features, output channels], features in `order`.
    private func sortedMatrix(_ values: [Float]) -> DenseMatrix {
        var matrix = DenseMatrix(rows: order.count, columns: part.rows.count)
        for (position, feature) in order.enumerated() {
            let offset = part.features[feature]
            for (column, start) in part.rows.enumerated() {
                matrix[position, column] = values[start + offset]
            }
        }
        return matrix
    }

    /// Replaces one feature of all output channels.
    ///
    /// - Returns: the error of each output channel, divided by the factor's diagonal element.
    private func replace(
        _ position: Int, of pending: DenseMatrix, in values: inout [Float],
        _ replacement: (Float, _ index: Int) -> Float
    ) -> [Float] {
        let offset = part.features[order[position]]
        let scale = factor.map { 1 / $0[position, position] } ?? 0
        var errors = [Float](repeating: 0, count: part.rows.count)
        for (column, start) in part.rows.enumerated() {
            let target = pending[position, column]
            values[start + offset] = replacement(target, start + offset)
            errors[column] = (target - values[start + offset]) * scale
        }
        return errors
    }
}

extension DenseMatrix {
    fileprivate mutating func setRow(_ row: Int, to values: [Float]) {
        scalars.replaceSubrange(row * columns..<(row + 1) * columns, with: values)
    }
}
