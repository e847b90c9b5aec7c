import Engine

/// Replaces the numbers of a part of a weight one feature after the other.
struct ErrorFeedback {
    let part: WeightPart
    /// Features, the most important ones first.
    let order: [Int]
    /// Of the inverse of what errors cost, in that order; nil to leave each error as it is.
    let factor: DenseMatrix?
    /// Features whose corrections of what lies behind them are made together.
    private static let blockSize = 128

    /// Replaces the numbers that stand in `values`.
    func round(_ values: inout [Float], _ replacement: (Float, _ index: Int) -> Float) {
        var pending = sortedMatrix(values)
        for start in stride(from: 0, to: order.count, by: Self.blockSize) {
            let block = start..<min(start + Self.blockSize, order.count)
            var errors = DenseMatrix(rows: block.count, columns: part.rows.count)
            for place in block {
                let error = replace(place, of: pending, in: &values, replacement)
                guard let factor else { continue }
                errors.setRow(place - start, to: error)
                pending.subtract(
                    error, times: factor, at: place, inRows: place + 1..<block.upperBound)
            }
            if let factor { pending.subtract(errors, times: factor, block: block) }
        }
    }

    private func sortedMatrix(_ values: [Float]) -> DenseMatrix {
        var matrix = DenseMatrix(rows: order.count, columns: part.rows.count)
        for (place, feature) in order.enumerated() {
            let offset = part.features[feature]
            for (column, start) in part.rows.enumerated() {
                matrix[place, column] = values[start + offset]
            }
        }
        return matrix
    }

    /// - Returns: the errors of the output channels, by the factor's diagonal.
    private func replace(
        _ place: Int, of pending: DenseMatrix, in values: inout [Float],
        _ replacement: (Float, _ index: Int) -> Float
    ) -> [Float] {
        let offset = part.features[order[place]]
        let scale = factor.map { 1 / $0[place, place] } ?? 0
        var errors = [Float](repeating: 0, count: part.rows.count)
        for (column, start) in part.rows.enumerated() {
            let wanted = pending[place, column]
            values[start + offset] = replacement(wanted, start + offset)
            errors[column] = (wanted - values[start + offset]) * scale
        }
        return errors
    }
}

extension DenseMatrix {
    fileprivate mutating func setRow(_ row: Int, to values: [Float]) {
        scalars.replaceSubrange(row * columns..<(row + 1) * columns, with: values)
    }
}
