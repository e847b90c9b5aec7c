import CRetintOpenBLAS

/// A matrix in memory, row by row, perhaps read as its transpose.
struct Float64Matrix {
    let pointer: UnsafePointer<Double>
    /// The distance between rows as they are stored.
    let stride: Int
    var isTransposed = false
}

/// Adds the product of x, [rows, inner], and y, [inner, columns], to a matrix.
func multiply(
    _ x: Float64Matrix, _ y: Float64Matrix, rows: Int, inner: Int, columns: Int,
    addingTo result: UnsafeMutablePointer<Double>, stride: Int
) {
    guard rows > 0, columns > 0, inner > 0 else { return }
    cblas_dgemm(
        CblasRowMajor, x.isTransposed ? CblasTrans : CblasNoTrans,
        y.isTransposed ? CblasTrans : CblasNoTrans, Int32(rows), Int32(columns), Int32(inner), 1,
        x.pointer, Int32(x.stride), y.pointer, Int32(y.stride), 1, result, Int32(stride))
}
