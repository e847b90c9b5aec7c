import CRetintOpenBLAS

/// A row-major float32 matrix, for linear algebra outside of graphs.
///
/// Products run on all processors; programs that use all of them wait meanwhile.
package struct DenseMatrix: Sendable {
    package let rows: Int
    package let columns: Int
    package var scalars: [Float]

    package init(rows: Int, columns: Int) {
        (self.rows, self.columns) = (rows, columns)
        scalars = [Float](repeating: 0, count: rows * columns)
    }

    /// - Precondition: `scalars` has `rows` · `columns` elements.
    package init(rows: Int, columns: Int, scalars: [Float]) {
        precondition(scalars.count == rows * columns)
        (self.rows, self.columns, self.scalars) = (rows, columns, scalars)
    }

    package subscript(row: Int, column: Int) -> Float {
        get { scalars[row * columns + column] }
        set { scalars[row * columns + column] = newValue }
    }
}

// Symmetric matrices: only the upper triangle is read and written.
extension DenseMatrix {
    /// Adds SᵀS for samples S, one sample per row.
    package mutating func addGram(of samples: DenseMatrix) {
        precondition(rows == columns && samples.columns == rows)
        let (n, count) = (Int32(rows), Int32(samples.rows))
        withAllProcessors {
            cblas_ssyrk(
                CblasRowMajor, CblasUpper, CblasTrans, n, count, 1, samples.scalars, n, 1,
                &scalars, n)
        }
    }

    /// U, upper triangular with UᵀU = (this + damping·I)⁻¹; nil if that is not positive definite.
    package func inverseFactor(damping: Float) -> DenseMatrix? {
        precondition(rows == columns)
        var result = self
        for index in 0..<rows { result[index, index] += damping }
        // LAPACK is column-major: our upper triangle is its lower one.
        var (n, info) = (Int32(rows), Int32(0))
        withAllProcessors {
            for step in [spotrf_, spotri_, spotrf_] where info == 0 {
                step("L", &n, &result.scalars, &n, &info)
            }
        }
        return info == 0 && result.scalars.allSatisfy(\.isFinite) ? result : nil
    }

    /// Σ over the columns x of `vectors` of xᵀ·this·x.
    package func quadraticForm(_ vectors: DenseMatrix) -> Double {
        precondition(rows == columns && vectors.rows == rows)
        var product = DenseMatrix(rows: rows, columns: vectors.columns)
        let (n, count) = (Int32(rows), Int32(vectors.columns))
        withAllProcessors {
            cblas_ssymm(
                CblasRowMajor, CblasLeft, CblasUpper, n, count, 1, scalars, n, vectors.scalars,
                count, 0, &product.scalars, count)
        }
        return zip(product.scalars, vectors.scalars).reduce(0) {
            $0 + Double($1.0) * Double($1.1)
        }
    }
}

extension DenseMatrix {
    /// Subtracts factor[at, k] · `row` from each row k in `range`.
    package mutating func subtract(
        _ row: [Float], times factor: DenseMatrix, at: Int, inRows range: Range<Int>
    ) {
        precondition(row.count == columns && factor.columns == rows && range.upperBound <= rows)
        guard !range.isEmpty else { return }
        let offset = range.lowerBound
        factor.scalars.withUnsafeBufferPointer { factor in
            scalars.withUnsafeMutableBufferPointer { target in
                cblas_sger(
                    CblasRowMajor, Int32(range.count), Int32(columns), -1,
                    factor.baseAddress! + at * rows + offset, 1, row, 1,
                    target.baseAddress! + offset * columns, Int32(columns))
            }
        }
    }

    /// Does what ``subtract(_:times:at:inRows:)`` does to the rows after `block`, for each row of
    /// `errors`; row i of `errors` belongs to row i of the block.
    package mutating func subtract(
        _ errors: DenseMatrix, times factor: DenseMatrix, block: Range<Int>
    ) {
        let rest = rows - block.upperBound
        precondition(factor.columns == rows && errors.columns == columns)
        guard rest > 0 else { return }
        withAllProcessors {
            factor.scalars.withUnsafeBufferPointer { factor in
                scalars.withUnsafeMutableBufferPointer { target in
                    cblas_sgemm(
                        CblasRowMajor, CblasTrans, CblasNoTrans, Int32(rest), Int32(columns),
                        Int32(block.count), -1,
                        factor.baseAddress! + block.lowerBound * rows + block.upperBound,
                        Int32(rows), errors.scalars, Int32(columns), 1,
                        target.baseAddress! + block.upperBound * columns, Int32(columns))
                }
            }
        }
    }
}

/// Runs `body` with OpenBLAS on all processors; programs keep it to one thread and use their own.
/// The number of threads is a setting of the whole process, and changes last bits: one caller at a
/// time.
private func withAllProcessors(_ body: () -> Void) {
    ThreadPool.shared(threads: ThreadPool.processorCount).withExclusiveUse {
        BLAS.isOnOneThread
        openblas_set_num_threads(Int32(ThreadPool.processorCount))
        body()
        openblas_set_num_threads(1)
    }
}
