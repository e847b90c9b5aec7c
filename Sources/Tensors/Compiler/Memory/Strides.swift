import RetintTensors

/// Where the elements of a value of some shape are in memory: each axis has its own stride.
package struct Strides: Hashable {
    package private(set) var shape: Shape
    /// For each logical axis, the step from one element to the next, in elements.
    package private(set) var steps: [Int]
    /// The first element's place.
    package private(set) var offset = 0

    /// A value in its own memory, in the engine's physical order.
    package init(_ shape: Shape) {
        (self.shape, steps) = (shape, Layout.strides(shape))
    }

    package init(rowMajor shape: Shape) {
        (self.shape, steps) = (shape, shape.strides)
    }

    /// The elements in the physical order of a value of this shape.
    package var view: View { View(shape: shape, steps: steps, offset: offset) }

    /// The elements in row-major order.
    package var rowMajorView: View {
        View(zip(shape.dimensions, steps).map { .init(extent: $0, step: $1) }, offset: offset)
    }

    // MARK: Views

    package func permuted(_ permutation: [Int]) -> Strides {
        with(Shape(permutation.map { shape[$0] }), permutation.map { steps[$0] })
    }

    /// Every `stride`-th element of each axis, by default each one, from `begin` on.
    package func sliced(from begin: [Int], stride: [Int]? = nil, shape: Shape) -> Strides {
        var result = with(shape, stride.map { zip($0, steps).map(*) } ?? steps)
        result.offset = offset + zip(begin, steps).map(*).reduce(0, +)
        return result
    }

    /// Repeated along new and one-element axes, by numpy's rule.
    package func broadcast(to target: Shape) -> Strides {
        let added = target.rank - shape.rank
        return with(
            target,
            (0..<target.rank).map { axis in
                let own = axis - added
                return own < 0 || shape[own] == 1 && target[axis] != 1 ? 0 : steps[own]
            })
    }

    /// The same elements in row-major order under another shape; nil if no strides reach them in
    /// that order.
    package func reshaped(_ target: Shape) -> Strides? {
        var result = [Int](repeating: 0, count: target.rank)
        var axis = target.rank - 1
        for joined in rowMajorView.axes.reversed() {
            var covered = 1
            while covered < joined.extent, axis >= 0 {
                result[axis] = joined.step * covered
                covered *= target[axis]
                axis -= 1
            }
            guard covered == joined.extent else { return nil }
        }
        return with(target, result)
    }

    private func with(_ shape: Shape, _ steps: [Int]) -> Strides {
        var result = self
        (result.shape, result.steps) = (shape, steps)
        return result
    }
}
