import CRetintOpenBLAS

/// The covariance of samples in float64, for linear algebra outside of graphs.
///
/// It is computed on one thread: the number of threads would change the last bits.
package struct CovarianceMatrix: Sendable {
    /// The number of rows and of columns.
    package let size: Int
    /// The elements, row by row.
    package private(set) var scalars: [Double]

    /// The sample covariance, divided by the number of samples minus 1.
    ///
    /// - Parameter samples: at least two, all with as many elements as `mean`, their mean.
    package init(of samples: [[Double]], mean: [Double]) {
        precondition(samples.count > 1 && samples.allSatisfy { $0.count == mean.count })
        let centered = samples.flatMap { zip($0, mean).map { $0 - $1 } }
        self.init(
            gramOf: centered, columns: mean.count, factor: 1 / Double(samples.count - 1))
    }

    /// `factor`·RᵀR for rows R.
    private init(gramOf rows: [Double], columns: Int, factor: Double) {
        size = columns
        scalars = [Double](repeating: 0, count: columns * columns)
        BLAS.isOnOneThread
        let (n, count) = (Int32(columns), Int32(rows.count / max(columns, 1)))
        cblas_dgemm(
            CblasRowMajor, CblasTrans, CblasNoTrans, n, n, count, factor, rows, n, rows, n, 0,
            &scalars, n)
    }

    /// The sum of the variances.
    package var trace: Double { (0..<size).reduce(0) { $0 + scalars[$1 * (size + 1)] } }

    /// S, symmetric, with S·S = this; nil if the eigenvalues cannot be computed.
    package var squareRoot: CovarianceMatrix? {
        guard let (values, vectors) = eigen(withVectors: true) else { return nil }
        // Σ √w·v·vᵀ is the Gram matrix of the rows ⁴√w·v. Rounding makes small values negative.
        var rows = vectors
        for row in 0..<size {
            let factor = max(values[row], 0).squareRoot().squareRoot()
            for column in 0..<size { rows[row * size + column] *= factor }
        }
        return CovarianceMatrix(gramOf: rows, columns: size, factor: 1)
    }

    /// The trace of √(this²·other), from the eigenvalues of this·other·this, which has the same
    /// ones and is symmetric; nil if they cannot be computed.
    package func traceOfRoot(ofSquareTimes other: CovarianceMatrix) -> Double? {
        precondition(size == other.size)
        let product = multiplied(by: other).multiplied(by: self)
        return product.eigen(withVectors: false)?.values.reduce(0) { $0 + max($1, 0).squareRoot() }
    }

    /// Only products of products are symmetric again.
    private func multiplied(by other: CovarianceMatrix) -> CovarianceMatrix {
        var result = self
        let n = Int32(size)
        cblas_dgemm(
            CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, scalars, n, other.scalars, n, 0,
            &result.scalars, n)
        return result
    }

    /// The eigenvalues, ascending, and if requested the eigenvectors as rows.
    private func eigen(withVectors: Bool) -> (values: [Double], vectors: [Double])? {
        guard scalars.allSatisfy(\.isFinite) else { return nil }
        var (n, info) = (Int32(size), Int32(0))
        var (vectors, values) = (scalars, [Double](repeating: 0, count: size))
        // Room for LAPACK's blocks of 64 columns.
        var work = [Double](repeating: 0, count: max(66 * size, 1))
        var room = Int32(work.count)
        BLAS.isOnOneThread
        dsyev_(withVectors ? "V" : "N", "U", &n, &vectors, &n, &values, &work, &room, &info)
        return info == 0 ? (values, vectors) : nil
    }
}
