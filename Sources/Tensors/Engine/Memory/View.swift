import CRetintKernels
import RetintGraph
import RetintTensors

/// The elements of a buffer that a result reads, in the order in which they are written.
struct View: Equatable {
    struct Axis: Equatable {
        var extent: Int
        var step: Int
    }

    private(set) var axes: [Axis]
    let offset: Int

    /// - Parameter axes: outermost first; adjacent axes that are contiguous are joined.
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

    /// A view whose logical axis i of `shape` moves by `steps[i]`.
    init(shape: Shape, steps: [Int], offset: Int = 0) {
        let axes = Layout.axes(rank: shape.rank)
        self.init(axes.map { Axis(extent: shape[$0], step: steps[$0]) }, offset: offset)
    }

    /// Whether the elements lie one after another.
    var isDense: Bool { axes.count == 1 && axes[0].step == 1 }
    /// Whether the elements lie one after another from the first one of the buffer on.
    var isContiguous: Bool { isDense && offset == 0 }
    var isScalar: Bool { axes.allSatisfy { $0.step == 0 || $0.extent == 1 } }
    /// The length of the vector, if the view is a contiguous vector that is repeated.
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
                for (index, axis) in axes.enumerated() {
                    extents.bindMemory(to: Int.self)[index] = axis.extent
                    steps.bindMemory(to: Int.self)[index] = axis.step
                }
            }
        }
        return view
    }

    /// Copies the view's elements to `target`, in the view's order.
    func gather(
        from source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        withUnsafePointer(to: cView) { rt_gather(target, source, $0, 0, count) }
    }

    /// Copies `source` to the view's elements of `target`, in the view's order.
    func scatter(
        _ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        withUnsafePointer(to: cView) { rt_scatter(target, source, $0, 0, count) }
    }
}
