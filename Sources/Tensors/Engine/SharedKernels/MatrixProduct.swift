import CRetintKernels
import CRetintOpenBLAS

/// OpenBLAS, which programs use on one thread: mixing its threads with theirs is slower.
enum BLAS {
    /// Set on first use: OpenBLAS then starts its threads, which busy-wait for work for a tenth of
    /// a second, at the cost of all others.
    static let isOnOneThread: Void = openblas_set_num_threads(1)
}

/// The library whose kernels multiply matrices on one thread.
enum MatrixKernels {
    case engine
    case openBLAS

    /// The kernels expected to be faster on this machine.
    static let fastest = fastest(
        blasCore: Machine.blasCore, vectorFloats: Int(rt_vector_floats()))

    /// OpenBLAS is faster if its kernels have vectors as wide as the processor's. A release
    /// that is older than the processor falls back to kernels for much older processors.
    static func fastest(blasCore: String, vectorFloats: Int) -> Self {
        let floats =
            switch blasCore.lowercased() {
            case "skylakex", "cooperlake", "sapphirerapids": 16
            case "haswell", "zen": 8
            default: 4
            }
        return floats < vectorFloats ? .engine : .openBLAS
    }

    /// C ← op(A)·op(B) + beta·C, all row-major; beta is 0 or 1.
    func multiply(
        _ transposeA: Bool, _ transposeB: Bool, m: Int, n: Int, k: Int,
        a: UnsafePointer<Float>, lda: Int, b: UnsafePointer<Float>, ldb: Int, beta: Float,
        c: UnsafeMutablePointer<Float>, ldc: Int
    ) {
        guard m > 0, n > 0 else { return }
        switch self {
        case .engine:
            rt_sgemm(
                transposeA ? 1 : 0, transposeB ? 1 : 0, m, n, k, a, lda, b, ldb, beta == 0 ? 0 : 1,
                c, ldc)
        case .openBLAS:
            BLAS.isOnOneThread
            cblas_sgemm(
                CblasRowMajor, transposeA ? CblasTrans : CblasNoTrans,
                transposeB ? CblasTrans : CblasNoTrans, Int32(m), Int32(n), Int32(k), 1, a,
                Int32(lda), b, Int32(ldb), beta, c, Int32(ldc))
        }
    }
}

/// ``MatrixKernels/multiply(_:_:m:n:k:a:lda:b:ldb:beta:c:ldc:)`` by the fastest kernels.
func sgemm(
    _ transposeA: Bool, _ transposeB: Bool, m: Int, n: Int, k: Int,
    a: UnsafePointer<Float>, lda: Int, b: UnsafePointer<Float>, ldb: Int, beta: Float,
    c: UnsafeMutablePointer<Float>, ldc: Int
) {
    MatrixKernels.fastest.multiply(
        transposeA, transposeB, m: m, n: n, k: k, a: a, lda: lda, b: b, ldb: ldb, beta: beta, c: c,
        ldc: ldc)
}
