import CRetintKernels
import CRetintOpenBLAS
import Glibc
import RetintGraph
import RetintTensors

/// The machine that the engine runs on.
public enum Machine {
    /// The CPU type that OpenBLAS chose its kernels for, such as `Haswell` or `SkylakeX`.
    public static var blasCore: String { String(cString: openblas_get_corename()) }

    /// The library whose kernels multiply matrices, `retint` or `OpenBLAS`: OpenBLAS is not used if
    /// its kernels are for older processors than this one.
    public static var matrixKernels: String {
        switch MatrixKernels.fastest {
        case .engine: "retint"
        case .openBLAS: "OpenBLAS"
        }
    }

    /// How OpenBLAS was built.
    public static var blasConfiguration: String { String(cString: openblas_get_config()) }

    /// A one-line summary for reports.
    public static var description: String {
        "\(processorCount) processors, OpenBLAS kernels for \(blasCore) (\(blasConfiguration))"
    }

    /// The processors that this process may use.
    public static var processorCount: Int { ThreadPool.processorCount }

    /// The floats in a vector of the engine's kernels on this processor.
    public static var vectorFloats: Int { Int(rt_vector_floats()) }

    /// The bytes of memory of the machine.
    public static let memoryBytes = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))

    /// Returns freed memory to the system: otherwise the allocator keeps it, and it counts
    /// as resident.
    package static func releaseFreeMemory() { rt_trim_heap() }

    /// Limits the vectors of the engine's products on the calling thread to 16, 8 or 4 floats: for
    /// tests.
    static func limitVectors(to floats: Int) { rt_limit_vectors(Int32(floats)) }

    /// Measures how fast this machine multiplies float32 matrices of 1536 × 1536.
    ///
    /// - Parameter threads: as in ``CompileOptions``.
    /// - Returns: floating-point operations per second, of the fastest of several runs.
    /// - Throws: ``GraphError`` if the product cannot be compiled.
    public static func measureMatrixProduct(threads: Int? = nil) throws(GraphError) -> Double {
        let side = 1536
        let graph = Graph()
        let shape = Shape([side, side])
        let product = matmul(graph.input("x", shape), graph.input("y", shape))
        let program = try Program(
            outputs: [("product", product)], options: CompileOptions(threads: threads))
        let ones = TensorData(shape: shape, repeating: 1)
        _ = try program.run(["x": ones, "y": ones])
        let operations = 2 * Double(side * side) * Double(side)
        return operations / fastest(program)
    }

    /// Measures how fast this machine streams through memory, on a tensor larger than its caches.
    ///
    /// - Parameter threads: as in ``CompileOptions``.
    /// - Returns: bytes read and written per second, of the fastest of several runs.
    /// - Throws: ``GraphError`` if the copy cannot be compiled.
    public static func measureCopy(threads: Int? = nil) throws(GraphError) -> Double {
        let graph = Graph()
        let shape = Shape([1 << 25])
        let program = try Program(
            outputs: [("copy", -graph.input("x", shape))],
            options: CompileOptions(threads: threads))
        _ = try program.run(["x": TensorData(shape: shape, repeating: 1)])
        return 2 * Double(shape.count * MemoryLayout<Float>.size) / fastest(program)
    }

    /// The shortest time of the steps in seconds, without copying inputs and outputs.
    private static func fastest(_ program: Program) -> Double {
        let seconds = (0..<8).map { _ in program.profile(runs: 1).reduce(0) { $0 + $1.seconds } }
        return seconds.min() ?? .infinity
    }
}
