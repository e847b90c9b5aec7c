package import RetintTensors

/// A function of one value, applied element by element.
package protocol UnaryElementwise: Operation {}

extension UnaryElementwise {
    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return inputs[0]
    }
}

/// A function of two values, applied element by element with broadcasting.
package protocol BinaryElementwise: Operation {}

extension BinaryElementwise {
    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        return try broadcastShape(inputs[0], inputs[1])
    }
}

extension Backward {
    /// The gradients of both operands of a broadcasting function, summed to the operands' shapes.
    func binary(_ first: () -> Tensor, _ second: () -> Tensor) -> [Tensor?] {
        [
            ifNeeded(0) { first().summed(to: inputs[0].shape) },
            ifNeeded(1) { second().summed(to: inputs[1].shape) },
        ]
    }
}
