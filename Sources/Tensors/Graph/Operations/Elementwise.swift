package import RetintTensors

/// A function of numbers, applied element by element with broadcasting.
package protocol ElementwiseOperation: Operation {
    /// What it computes.
    var formula: Formula { get }
}

/// A function of one value, applied element by element.
package protocol UnaryElementwise: ElementwiseOperation {
    /// The result for an element x.
    func formula(_ x: Formula) -> Formula
}

extension UnaryElementwise {
    package var formula: Formula { formula(.operand(0)) }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return inputs[0]
    }
}

/// A function of two values, applied element by element with broadcasting.
package protocol BinaryElementwise: ElementwiseOperation {
    /// The result for elements x and y.
    func formula(_ x: Formula, _ y: Formula) -> Formula
}

extension BinaryElementwise {
    package var formula: Formula { formula(.operand(0), .operand(1)) }

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
