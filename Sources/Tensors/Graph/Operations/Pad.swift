package import RetintTensors

/// Constant elements before and after each axis (`torch.nn.functional.pad`, mode constant).
package struct Pad: Operation {
    package static let name = "pad"
    /// For each axis, how many elements to add at its start.
    package let before: [Int]
    /// For each axis, how many elements to add at its end.
    package let after: [Int]
    package let value: Float

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let rank = inputs[0].rank
        try require(
            before.count == rank && after.count == rank, "needs two amounts for each axis")
        try require(
            (before + after).allSatisfy((0...Shape.maximumExtent).contains),
            "amounts must be from 0 to \(Shape.maximumExtent)")
        return Shape((0..<rank).map { inputs[0][$0] + before[$0] + after[$0] })
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let shape = backward.inputs[0].shape
        let ends = zip(before, shape.dimensions).map { $0 + $1 }
        return [backward.gradient.sliced(from: before, to: ends)]
    }
}

extension Tensor {
    /// Adds `before[i]` and `after[i]` elements of `value` around axis i.
    public func padded(before: [Int], after: [Int], value: Float = 0) -> Tensor {
        applying(Pad(before: before, after: after, value: value))
    }
}
