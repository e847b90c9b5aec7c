import RetintGraph
import RetintTensors

/// How the engine lays out values in memory: rank 4 channels-last (NHWC), all others row-major.
///
/// Logical shapes stay NCHW; the physical order is not visible outside this target.
package enum Layout {
    /// The logical axes in physical order, outermost first.
    package static func axes(rank: Int) -> [Int] {
        rank == 4 ? [0, 2, 3, 1] : Array(0..<rank)
    }

    /// For each logical axis, the stride in memory, in elements.
    package static func strides(_ shape: Shape) -> [Int] {
        var strides = [Int](repeating: 1, count: shape.rank)
        var step = 1
        for axis in axes(rank: shape.rank).reversed() {
            strides[axis] = step
            step *= shape[axis]
        }
        return strides
    }

    /// A shape of as many elements whose values are row-major: one more axis if there are four.
    package static func rowMajor(_ shape: Shape) -> Shape {
        shape.rank == 4 ? Shape([1] + shape.dimensions) : shape
    }

    /// The extent of the last axis in memory.
    package static func channels(_ shape: Shape) -> Int {
        axes(rank: shape.rank).last.map { shape[$0] } ?? 1
    }

    /// Whether physical order and row-major order are the same.
    package static func isRowMajor(_ shape: Shape) -> Bool {
        shape.rank != 4 || shape[1] == 1 || shape[2] * shape[3] == 1
    }
}
