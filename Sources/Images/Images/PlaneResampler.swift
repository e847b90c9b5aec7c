import CRetintImageCodecs

/// Resizes planes of one size to another, a row at a time, with the weights computed once.
package struct PlaneResampler: Sendable {
    /// The size of the result.
    package let width, height: Int
    /// The width of the planes that are resized.
    private let oldWidth: Int
    private let columns: ResamplePlan
    private let columnWeights: [Float]
    private let rows: ResamplePlan
    private let rowWeights: [Float]

    /// - Precondition: All sides are positive.
    package init(
        from old: (width: Int, height: Int), to new: (width: Int, height: Int),
        filter: ResampleFilter
    ) {
        precondition(min(old.width, old.height, new.width, new.height) > 0)
        (width, height, oldWidth) = (new.width, new.height, old.width)
        columns = ResamplePlan(from: old.width, to: new.width, filter: filter)
        rows = ResamplePlan(from: old.height, to: new.height, filter: filter)
        columnWeights = columns.weights.map(Float.init)
        rowWeights = rows.weights.map(Float.init)
    }

    /// The old rows that a new row is the weighted sum of.
    package func window(ofRow row: Int) -> (start: Int, weights: ArraySlice<Float>) {
        let first = rows.stride * row
        return (Int(rows.starts[row]), rowWeights[first..<first + Int(rows.counts[row])])
    }

    /// Resamples rows from the old width to the new one.
    ///
    /// - Precondition: `source` has `count` old rows, and `target` has room for `count` new ones.
    package func resizeRows(
        _ source: UnsafePointer<Float>, into target: UnsafeMutablePointer<Float>, count: Int
    ) {
        columns.withWindows(weightsPerSample: 1) { windows in
            for row in 0..<count {
                resample_row_float(
                    source + oldWidth * row, target + width * row, windows, columnWeights)
            }
        }
    }

    /// The rows of a plane at the new width.
    ///
    /// - Precondition: `plane` has whole rows of the old width.
    package func widened(_ plane: [Float]) -> [Float] {
        let rows = plane.count / oldWidth
        return filled(rows * width) { resizeRows(plane, into: $0, count: rows) }
    }

    /// Computes one row of the result from old rows that have the new width.
    ///
    /// - Precondition: `source` has all old rows, and `target` room for one new one.
    package func blendRows(
        _ source: UnsafePointer<Float>, forRow row: Int, into target: UnsafeMutablePointer<Float>
    ) {
        let (start, weights) = window(ofRow: row)
        weights.withUnsafeBufferPointer { weights in
            resample_column_float(
                source + width * start, width, Int32(weights.count), weights.baseAddress!, target,
                width)
        }
    }
}
