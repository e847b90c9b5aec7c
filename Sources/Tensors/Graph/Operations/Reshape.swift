public import RetintTensors

/// The same elements, in row-major order, under another shape (`torch.reshape`).
package struct Reshape: Operation {
    package static let name = "reshape"
    package let shape: Shape

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try shape.validate()
        try require(
            inputs[0].count == shape.count,
            "\(inputs[0].count) elements cannot be reshaped to \(shape)")
        return shape
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.reshaped(backward.inputs[0].shape)]
    }
}

extension Tensor {
    /// The same elements under another shape; no operation if the shape is already that.
    public func reshaped(_ shape: Shape) -> Tensor {
        self.shape == shape ? self : applying(Reshape(shape: shape))
    }
}
