/// NVIDIA's matrix products (cublasLt.h).
struct CuBLASLt: @unchecked Sendable {
    typealias Status = Int32
    typealias Handle = OpaquePointer
    typealias Out<Value> = UnsafeMutablePointer<Value>

    private let library: CUDALibrary
    private let handle: Handle
    private let createLayout: @convention(c) (Out<Handle?>, Int32, UInt64, UInt64, Int64) -> Status
    private let setLayout: @convention(c) (Handle, Int32, UnsafeRawPointer, Int) -> Status
    private let createProduct: @convention(c) (Out<Handle?>, Int32, Int32) -> Status
    private let setProduct: @convention(c) (Handle, Int32, UnsafeRawPointer, Int) -> Status
    private let createPreference: @convention(c) (Out<Handle?>) -> Status
    private let destroyPreference: @convention(c) (Handle) -> Status
    private let setPreference: @convention(c) (Handle, Int32, UnsafeRawPointer, Int) -> Status
    private let heuristic:
        @convention(c) (
            Handle, Handle, Handle, Handle, Handle, Handle, Handle, Int32,
            UnsafeMutableRawPointer, Out<Int32>
        ) -> Status
    private let multiply:
        @convention(c) (
            Handle, Handle, UnsafeRawPointer, UInt, Handle, UInt, Handle, UnsafeRawPointer, UInt,
            Handle, UInt, Handle, UnsafeRawPointer, UInt, Int, OpaquePointer
        ) -> Status

    /// - Throws: ``CUDAError`` if it is missing or too old.
    init() throws(CUDAError) {
        library = try CUDALibrary(.cuBLASLt)
        let create: @convention(c) (Out<Handle?>) -> Status = try library.function("cublasLtCreate")
        createLayout = try library.function("cublasLtMatrixLayoutCreate")
        setLayout = try library.function("cublasLtMatrixLayoutSetAttribute")
        createProduct = try library.function("cublasLtMatmulDescCreate")
        setProduct = try library.function("cublasLtMatmulDescSetAttribute")
        createPreference = try library.function("cublasLtMatmulPreferenceCreate")
        destroyPreference = try library.function("cublasLtMatmulPreferenceDestroy")
        setPreference = try library.function("cublasLtMatmulPreferenceSetAttribute")
        heuristic = try library.function("cublasLtMatmulAlgoGetHeuristic")
        multiply = try library.function("cublasLtMatmul")
        var made: Handle?
        let status = create(&made)
        guard status == 0, let made else {
            throw CUDAError("\(library.path): cuBLASLt does not start: error \(status)")
        }
        handle = made
    }

    /// A product x · y of row-major matrices, or as many as `batch`.
    struct Product: Hashable {
        var rows, inner, columns, batch: Int
        var transposesX, transposesY: Bool
        /// Whether all products have the same y.
        var sharesY: Bool
        /// Of x and y; the result is in float32, unless stated.
        var format: NumberFormat
        var result = NumberFormat.float32
        /// Whether float32 operands may be rounded to TF32.
        var allowsTF32 = false
    }

    /// The formats of `cudaDataType_t`.
    enum NumberFormat: Int32 {
        case float32 = 0
        case float16 = 2
        case bfloat16 = 14
    }

    /// How a product is computed. Descriptors live as long as the process.
    struct Plan: @unchecked Sendable {
        fileprivate let product, x, y, result: Handle
        /// The 64 bytes of the algorithm.
        fileprivate let algorithm: [UInt64]
        let workspaceBytes: Int
    }

    /// - Parameter workspaceLimit: in bytes.
    /// - Throws: ``CUDAError`` if cuBLASLt does not compute the product.
    func plan(_ wanted: Product, workspaceLimit: Int) throws(CUDAError) -> Plan {
        // Column-major matrices are the transposes of row-major ones: yᵀ · xᵀ.
        let (computesInFloat32, computesInTF32): (Int32, Int32) = (68, 77)
        var product: Handle?
        try check(
            createProduct(
                &product, wanted.allowsTF32 ? computesInTF32 : computesInFloat32,
                NumberFormat.float32.rawValue))
        guard let product else { throw CUDAError("cuBLASLt: there is no product") }
        let (transposeA, transposeB): (Int32, Int32) = (3, 4)
        try set(product, transposeA, Int32(wanted.transposesY ? 1 : 0))
        try set(product, transposeB, Int32(wanted.transposesX ? 1 : 0))
        let x = try layout(
            rows: wanted.transposesX ? wanted.inner : wanted.rows,
            columns: wanted.transposesX ? wanted.rows : wanted.inner, wanted.format, wanted.batch)
        let y = try layout(
            rows: wanted.transposesY ? wanted.columns : wanted.inner,
            columns: wanted.transposesY ? wanted.inner : wanted.columns, wanted.format,
            wanted.batch, isShared: wanted.sharesY)
        let result = try layout(
            rows: wanted.rows, columns: wanted.columns, wanted.result, wanted.batch)
        var preference: Handle?
        try check(createPreference(&preference))
        guard let preference else { throw CUDAError("cuBLASLt: there is no preference") }
        let maximumWorkspace: Int32 = 1
        var limit = workspaceLimit
        try check(setPreference(preference, maximumWorkspace, &limit, 8))
        // What the memory plan and parts of buckets guarantee, for each matrix.
        var alignment: UInt32 = 16
        for matrix: Int32 in 5...8 {
            try check(setPreference(preference, matrix, &alignment, 4))
        }
        // cublasLtMatmulHeuristicResult_t: the algorithm, its workspace, its status, the rest.
        var found = [UInt64](repeating: 0, count: 12)
        var count: Int32 = 0
        let status = heuristic(
            handle, product, y, x, result, result, preference, 1, &found, &count)
        _ = destroyPreference(preference)
        guard status == 0, count == 1, UInt32(truncatingIfNeeded: found[9]) == 0 else {
            throw CUDAError(
                "cuBLASLt has no algorithm for \(wanted.rows) × \(wanted.inner) by \(wanted.inner) "
                    + "× \(wanted.columns): error \(status)")
        }
        return Plan(
            product: product, x: x, y: y, result: result, algorithm: Array(found[..<8]),
            workspaceBytes: Int(found[8]))
    }

    /// Starts a product on a stream.
    func run(
        _ plan: Plan, x: UInt, y: UInt, result: UInt, workspace: UInt, _ stream: OpaquePointer
    ) -> Status {
        var (one, zero): (Float, Float) = (1, 0)
        return multiply(
            handle, plan.product, &one, y, plan.y, x, plan.x, &zero, result, plan.result, result,
            plan.result, plan.algorithm, workspace, plan.workspaceBytes, stream)
    }

    private func layout(
        rows: Int, columns: Int, _ format: NumberFormat, _ batch: Int, isShared: Bool = false
    ) throws(CUDAError) -> Handle {
        var layout: Handle?
        try check(
            createLayout(&layout, format.rawValue, UInt64(columns), UInt64(rows), Int64(columns)))
        guard let layout else { throw CUDAError("cuBLASLt: there is no layout") }
        let (batchCount, batchStride): (Int32, Int32) = (5, 6)
        var count = Int32(batch)
        var stride = Int64(isShared ? 0 : rows * columns)
        try check(setLayout(layout, batchCount, &count, 4))
        try check(setLayout(layout, batchStride, &stride, 8))
        return layout
    }

    private func set(
        _ product: Handle, _ attribute: Int32, _ value: Int32
    ) throws(CUDAError) {
        var value = value
        try check(setProduct(product, attribute, &value, 4))
    }

    func check(_ status: Status) throws(CUDAError) {
        guard status != 0 else { return }
        throw CUDAError("cuBLASLt: error \(status)")
    }
}
