package import RetintTensors

/// Every `stride`-th element of `begin`..<`end` on each axis (Python's `x[b:e:s, …]`).
package struct Slice: Operation {
    package static let name = "slice"
    package let begin: [Int]
    package let end: [Int]
    package let stride: [Int]

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try validate(inputs[0])
        return partShape
    }

    /// The shape of the result.
    package var partShape: Shape {
        Shape(begin.indices.map { (end[$0] - begin[$0] + stride[$0] - 1) / stride[$0] })
    }

    /// Checks the bounds against the shape of the whole tensor.
    func validate(_ whole: Shape) throws(ShapeError) {
        let rank = whole.rank
        try require(
            begin.count == rank && end.count == rank && stride.count == rank,
            "needs begin, end and stride for each of \(rank) axes")
        for axis in 0..<rank {
            try require(
                begin[axis] >= 0 && begin[axis] < end[axis] && end[axis] <= whole[axis],
                "\(begin[axis])..<\(end[axis]) is out of range for axis \(axis) of \(whole)")
            try require(
                (1...Shape.maximumExtent).contains(stride[axis]),
                "stride must be from 1 to \(Shape.maximumExtent)")
        }
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let scatter = SliceScatter(slice: self, shape: backward.inputs[0].shape)
        return [backward.gradient.applying(scatter)]
    }
}

/// Zeros of `shape` with x written to the elements that ``Slice`` reads (`torch.slice_scatter` into
/// zeros).
package struct SliceScatter: Operation {
    package static let name = "slice_scatter"
    package let slice: Slice
    package let shape: Shape

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let part = try slice.outputShape(for: [shape])
        try require(part == inputs[0], "the written part must have shape \(part)")
        return shape
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.applying(slice)]
    }
}

extension Tensor {
    /// The elements `begin[i]..<end[i]`, every `stride[i]`-th, of each axis i.
    public func sliced(from begin: [Int], to end: [Int], stride: [Int]? = nil) -> Tensor {
        let step = stride ?? [Int](repeating: 1, count: begin.count)
        return applying(Slice(begin: begin, end: end, stride: step))
    }

    /// The tensor with the elements that ``sliced(from:to:stride:)`` takes replaced
    /// (`torch.slice_scatter`); `update` has their shape, but for axes of extent 1.
    package func replacingSlice(
        from begin: [Int], to end: [Int], stride: [Int], with update: Tensor
    ) throws(ShapeError) -> Tensor {
        let slice = Slice(begin: begin, end: end, stride: stride)
        let part = try slice.outputShape(for: [shape])
        try require(
            part.count == update.shape.count, "an update of \(update.shape) does not fit \(part)")
        let isReplaced = graph.constant(1).broadcast(to: part).surrounded(for: slice, in: shape)
        return select(isReplaced, update.reshaped(part).surrounded(for: slice, in: shape), self)
    }

    /// Zeros of `shape` with the elements that `slice` reads of it replaced by this tensor's. Made
    /// of operations that every file format has, other than ``SliceScatter``.
    private func surrounded(for slice: Slice, in shape: Shape) -> Tensor {
        var result = self
        for (axis, stride) in slice.stride.enumerated() where stride > 1 {
            result = result.spread(axis, stride)
        }
        let extents = result.shape.dimensions
        let after = extents.indices.map { shape[$0] - slice.begin[$0] - extents[$0] }
        return result.padded(before: slice.begin, after: after, value: 0)
    }

    /// `stride` − 1 zeros between the elements of an axis.
    private func spread(_ axis: Int, _ stride: Int) -> Tensor {
        let count = shape[axis]
        guard count > 1 else { return self }
        // The last element has none behind it.
        var (column, row) = (shape.dimensions, shape.dimensions)
        column.replaceSubrange(axis...axis, with: [count - 1, 1])
        row[axis] = (count - 1) * stride
        var after = column.map { _ in 0 }
        after[axis + 1] = stride - 1
        let spaced = sliced(axis: axis, 0..<count - 1).reshaped(Shape(column))
            .padded(before: column.map { _ in 0 }, after: after, value: 0).reshaped(Shape(row))
        return concat([spaced, sliced(axis: axis, count - 1..<count)], axis: axis)
    }

    /// The elements `range` of one axis.
    public func sliced(axis: Int, _ range: Range<Int>) -> Tensor {
        var begin = [Int](repeating: 0, count: shape.rank)
        var end = shape.dimensions
        let index = axis < 0 ? axis + shape.rank : axis
        guard begin.indices.contains(index) else {
            let error = ShapeError("axis \(axis) is out of range for rank \(shape.rank)")
            graph.record(error, Slice.name, [shape])
            return self
        }
        (begin[index], end[index]) = (range.lowerBound, range.upperBound)
        return sliced(from: begin, to: end)
    }

    /// Every `step`-th row and column of an image: `x[:, :, ::step, ::step]`.
    public func subsampled(by step: Int) -> Tensor {
        sliced(
            from: [Int](repeating: 0, count: shape.rank), to: shape.dimensions,
            stride: shape.dimensions.indices.map { $0 >= shape.rank - 2 ? step : 1 })
    }
}
