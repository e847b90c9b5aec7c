import COpenBLAS
import TensorGraph

/// What the engine runs on.
public enum Machine {
    /// The CPU that OpenBLAS chose its kernels for, such as `Haswell` or `SkylakeX`.
    public static var blasCore: String { String(cString: openblas_get_corename()) }

    /// How OpenBLAS was built.
    public static var blasConfiguration: String { String(cString: openblas_get_config()) }

    /// The processors that this process may use.
    public static var processorCount: Int { ThreadPool.processorCount }

    /// How fast this machine multiplies large float32 matrices, in floating-point operations a
    /// second: the best of some runs of a product of 1536 × 1536.
    ///
    /// - Parameter threads: as in ``CompileOptions``.
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
        // The steps alone: copying matrices in and out is not part of the product.
        let seconds = (0..<8).map { _ in program.profile().reduce(0) { $0 + $1.seconds } }
        return operations / (seconds.min() ?? .infinity)
    }
}
