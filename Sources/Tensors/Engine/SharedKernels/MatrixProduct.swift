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

    /// Multiplies two matrices of these sizes.
    func multiply(
        _ a: MatrixFactor, _ b: MatrixFactor, _ size: ProductSize, to product: MatrixProduct
    ) {
        guard size.rows > 0, size.columns > 0 else { return }
        switch self {
        case .engine:
            rt_sgemm(
                a.isTransposed ? 1 : 0, b.isTransposed ? 1 : 0, size.rows, size.columns, size.depth,
                a.start, a.stride, b.start, b.stride, product.isAdded ? 1 : 0,
                product.isPadded ? 1 : 0, product.start, product.stride)
        case .openBLAS:
            BLAS.isOnOneThread
            cblas_sgemm(
                CblasRowMajor, a.isTransposed ? CblasTrans : CblasNoTrans,
                b.isTransposed ? CblasTrans : CblasNoTrans, Int32(size.rows), Int32(size.columns),
                Int32(size.depth), 1, a.start, Int32(a.stride), b.start, Int32(b.stride),
                product.isAdded ? 1 : 0, product.start, Int32(product.stride))
        }
    }
}

/// The sizes of a product of matrices: rows × depth by depth × columns.
struct ProductSize {
    let rows, columns, depth: Int
}

/// A matrix in row-major order that is multiplied.
struct MatrixFactor {
    let start: UnsafePointer<Float>
    /// Elements from one row in memory to the next.
    let stride: Int
    /// Whether its transpose takes part.
    let isTransposed: Bool

    init(_ start: UnsafePointer<Float>, stride: Int, isTransposed: Bool = false) {
        (self.start, self.stride, self.isTransposed) = (start, stride, isTransposed)
    }
}

/// Where a product of matrices goes, in row-major order.
struct MatrixProduct {
    let start: UnsafeMutablePointer<Float>
    /// Elements from one row to the next.
    let stride: Int
    /// Whether it is added to what is there.
    let isAdded: Bool
    /// Whether rows may be written up to a multiple of RT_HALF columns.
    let isPadded: Bool

    init(
        _ start: UnsafeMutablePointer<Float>, stride: Int, isAdded: Bool = false,
        isPadded: Bool = false
    ) {
        (self.start, self.stride, self.isAdded) = (start, stride, isAdded)
        self.isPadded = isPadded
    }
}

/// ``MatrixKernels/multiply(_:_:_:to:)`` by the fastest kernels.
func sgemm(_ a: MatrixFactor, _ b: MatrixFactor, _ size: ProductSize, to product: MatrixProduct) {
    MatrixKernels.fastest.multiply(a, b, size, to: product)
}
