import RetintGraph
import RetintTensors

/// How the engine lays out values in memory: rank 4 channels-last (NHWC), all others row-major.
///
/// Logical shapes stay NCHW; the physical order is not visible outside this target.
enum Layout {
    /// The logical axes in physical order, outermost first.
    static func axes(rank: Int) -> [Int] {
        rank == 4 ? [0, 2, 3, 1] : Array(0..<rank)
    }

    /// For each logical axis, the stride in memory, in elements.
    static func strides(_ shape: Shape) -> [Int] {
        var strides = [Int](repeating: 1, count: shape.rank)
        var step = 1
        for axis in axes(rank: shape.rank).reversed() {
            strides[axis] = step
            step *= shape[axis]
        }
        return strides
    }

    /// Whether physical order and row-major order are the same.
    static func isRowMajor(_ shape: Shape) -> Bool {
        shape.rank != 4 || shape[1] == 1 || shape[2] * shape[3] == 1
    }
}
