package import RetintTensors

/// Axes in another order (`torch.permute`): axis i of the result is axis `permutation[i]` of x.
package struct Transpose: Operation {
    package static let name = "transpose"
    package let permutation: [Int]

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let axes = Array(0..<inputs[0].rank)
        try require(
            permutation.sorted() == axes, "\(permutation) is not a permutation of \(axes)")
        return Shape(permutation.map { inputs[0][$0] })
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        var inverse = permutation
        for (index, axis) in permutation.enumerated() { inverse[axis] = index }
        return [backward.gradient.transposed(inverse)]
    }
}

extension Tensor {
    /// This tensor with its axes in another order: axis i of the result is axis `permutation[i]`.
    public func transposed(_ permutation: [Int]) -> Tensor {
        applying(Transpose(permutation: permutation))
    }
}
