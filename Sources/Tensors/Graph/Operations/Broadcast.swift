public import RetintTensors

/// Repeats a tensor along new and one-element axes, by numpy's rule (`torch.broadcast_to`).
package struct Broadcast: Operation {
    package static let name = "broadcast_to"
    package let shape: Shape

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let joint = try? broadcastShape(inputs[0], shape)
        try require(joint == shape, "\(inputs[0]) cannot be broadcast to \(shape)")
        return shape
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.summed(to: backward.inputs[0].shape)]
    }
}

/// The common shape of two operands: aligned at the last axis, each pair of extents is equal or one
/// is 1.
package func broadcastShape(_ a: Shape, _ b: Shape) throws(ShapeError) -> Shape {
    var result: [Int] = []
    for axis in 1..<(max(a.rank, b.rank) + 1) {
        let first = axis <= a.rank ? a[-axis] : 1
        let second = axis <= b.rank ? b[-axis] : 1
        try require(
            first == second || first == 1 || second == 1,
            "\(a) and \(b) cannot be broadcast together")
        result.append(first == 1 ? second : first)
    }
    return Shape(result.reversed())
}

extension Tensor {
    /// This tensor repeated along new and one-element axes; itself if the shape is already that.
    public func broadcast(to shape: Shape) -> Tensor {
        self.shape == shape ? self : applying(Broadcast(shape: shape))
    }

    /// The gradient of an operand of `shape` that was broadcast: this tensor summed over the axes
    /// along which the operand was repeated.
    package func summed(to shape: Shape) -> Tensor {
        guard self.shape != shape else { return self }
        let added = self.shape.rank - shape.rank
        let repeated = (0..<self.shape.rank).filter { axis in
            axis < added || (shape[axis - added] == 1 && self.shape[axis] != 1)
        }
        return sum(axes: repeated, keepDims: true).reshaped(shape)
    }
}
