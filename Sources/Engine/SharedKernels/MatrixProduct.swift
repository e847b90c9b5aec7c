import COpenBLAS

/// C ← alpha·op(A)·op(B) + beta·C, all row-major.
@inline(__always)
func sgemm(
    _ transposeA: Bool, _ transposeB: Bool, m: Int, n: Int, k: Int,
    a: UnsafePointer<Float>, lda: Int, b: UnsafePointer<Float>, ldb: Int, beta: Float,
    c: UnsafeMutablePointer<Float>, ldc: Int
) {
    guard m > 0, n > 0 else { return }
    cblas_sgemm(
        CblasRowMajor, transposeA ? CblasTrans : CblasNoTrans,
        transposeB ? CblasTrans : CblasNoTrans, Int32(m), Int32(n), Int32(k), 1, a, Int32(lda), b,
        Int32(ldb), beta, c, Int32(ldc))
}
