import RetintGraph
import RetintTensors

/// The elements of a buffer that a result reads, in the order in which they are written.
package struct View: Equatable {
    package struct Axis: Equatable {
        package var extent: Int
        package var step: Int

        package init(extent: Int, step: Int) { (self.extent, self.step) = (extent, step) }
    }

    package private(set) var axes: [Axis]
    package let offset: Int

    /// - Parameter axes: outermost first; adjacent axes that are contiguous are joined.
    package init(_ axes: [Axis], offset: Int = 0) {
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
    package init(shape: Shape, steps: [Int], offset: Int = 0) {
        let axes = Layout.axes(rank: shape.rank)
        self.init(axes.map { Axis(extent: shape[$0], step: steps[$0]) }, offset: offset)
    }

    /// Whether the elements lie one after another.
    package var isDense: Bool { axes.count == 1 && axes[0].step == 1 }
    /// Whether the elements lie one after another from the first one of the buffer on.
    package var isContiguous: Bool { isDense && offset == 0 }
    package var isScalar: Bool { axes.allSatisfy { $0.step == 0 || $0.extent == 1 } }
    /// The length of the vector, if the view is a contiguous vector that is repeated.
    package var repeatedVector: Int? {
        guard axes.count == 2, axes[0].step == 0, axes[1].step == 1, offset == 0 else {
            return nil
        }
        return axes[1].extent
    }
}
