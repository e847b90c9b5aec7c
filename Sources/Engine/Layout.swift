import CKernels
import TensorGraph

/// How the engine lays values out in memory: rank 4 channels-last, all else row-major.
///
/// Logical shapes stay NCHW; nothing outside this target knows about physical order.
enum Layout {
    /// The logical axes in physical order, outermost first.
    static func axes(rank: Int) -> [Int] {
        rank == 4 ? [0, 2, 3, 1] : Array(0..<rank)
    }

    /// For each logical axis, the distance of neighbours in memory.
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

/// Which elements of a buffer a result reads, in the order in which it is written.
struct View: Equatable {
    struct Axis: Equatable {
        var extent: Int
        var step: Int
    }

    private(set) var axes: [Axis]
    let offset: Int

    /// - Parameter axes: outermost first; neighbours that amount to one axis are joined.
    init(_ axes: [Axis], offset: Int = 0) {
        var joined: [Axis] = []
        for axis in axes where axis.extent != 1 {
            if let last = joined.last, last.step == axis.step * axis.extent {
                joined[joined.count - 1] = Axis(
                    extent: last.extent * axis.extent, step: axis.step)
            } else {
                joined.append(axis)
            }
        }
        self.axes = joined.isEmpty ? [Axis(extent: 1, step: 1)] : joined
        self.offset = offset
    }

    /// Reads a value of shape `source` as numpy's broadcasting to `shape` does.
    init(broadcasting source: Shape, to shape: Shape) {
        let strides = Layout.strides(source)
        let added = shape.rank - source.rank
        self.init(
            Layout.axes(rank: shape.rank).map { axis in
                let own = axis - added
                let isRepeated = own < 0 || (source[own] == 1 && shape[axis] != 1)
                return Axis(extent: shape[axis], step: isRepeated ? 0 : strides[own])
            })
    }

    /// A view whose logical axis i of `shape` moves by `steps[i]`.
    init(shape: Shape, steps: [Int], offset: Int = 0) {
        let axes = Layout.axes(rank: shape.rank)
        self.init(axes.map { Axis(extent: shape[$0], step: steps[$0]) }, offset: offset)
    }

    var isContiguous: Bool { axes.count == 1 && axes[0].step == 1 && offset == 0 }
    var isScalar: Bool { axes.allSatisfy { $0.step == 0 || $0.extent == 1 } }
    /// The length of a vector that repeats over and over, if that is what the view is.
    var repeatedVector: Int? {
        guard axes.count == 2, axes[0].step == 0, axes[1].step == 1, offset == 0 else {
            return nil
        }
        return axes[1].extent
    }

    var cView: rt_view {
        precondition(axes.count <= Int(RT_MAX_RANK), "too many axes in a view")
        var view = rt_view()
        view.rank = Int32(axes.count)
        withUnsafeMutableBytes(of: &view.extent) { extents in
            withUnsafeMutableBytes(of: &view.step) { steps in
                for (place, axis) in axes.enumerated() {
                    extents.bindMemory(to: Int.self)[place] = axis.extent
                    steps.bindMemory(to: Int.self)[place] = axis.step
                }
            }
        }
        return view
    }
}
