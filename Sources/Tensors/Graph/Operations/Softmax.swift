package import RetintTensors

/// eˣ / Σ eˣ along one axis (`torch.softmax`), computed from x − max x.
package struct Softmax: Operation {
    package static let name = "softmax"
    package let axis: Int

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try shapeAlongAxis(inputs, axis)
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (y, dy) = (backward.output, backward.gradient)
        return [y * (dy - (dy * y).sum(axes: [axis], keepDims: true))]
    }
}

/// x − log Σ eˣ along one axis (`torch.log_softmax`).
package struct LogSoftmax: Operation {
    package static let name = "log_softmax"
    package let axis: Int

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try shapeAlongAxis(inputs, axis)
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let dy = backward.gradient
        return [dy - exp(backward.output) * dy.sum(axes: [axis], keepDims: true)]
    }
}

private func shapeAlongAxis(_ inputs: [Shape], _ axis: Int) throws(ShapeError) -> Shape {
    try requireInputs(inputs, 1...1)
    _ = try normalizedAxes([axis], rank: inputs[0].rank)
    return inputs[0]
}

/// eˣ / Σ eˣ along one axis (`torch.softmax`).
public func softmax(_ x: Tensor, axis: Int) -> Tensor { x.applying(Softmax(axis: axis)) }
/// x − log Σ eˣ along one axis (`torch.log_softmax`).
public func logSoftmax(_ x: Tensor, axis: Int) -> Tensor { x.applying(LogSoftmax(axis: axis)) }
