package import RetintTensors

/// A function that reduces all elements along some axes to one.
package protocol AxisReduction: Operation {
    /// Negative axes count from the end; an empty list means all axes.
    var axes: [Int] { get }
    /// Whether reduced axes are kept, with extent 1.
    var keepDims: Bool { get }

    init(axes: [Int], keepDims: Bool)
}

extension AxisReduction {
    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        let reduced = try reducedAxes(of: inputs[0])
        return keepDims ? kept(inputs[0], reduced) : dropped(inputs[0], reduced)
    }

    package func reducedAxes(of shape: Shape) throws(ShapeError) -> [Int] {
        axes.isEmpty ? Array(0..<shape.rank) : try normalizedAxes(axes, rank: shape.rank)
    }

    /// The shape with reduced axes kept at extent 1, even if `keepDims` is false.
    package func keptShape(of shape: Shape) throws(ShapeError) -> Shape {
        kept(shape, try reducedAxes(of: shape))
    }

    private func kept(_ shape: Shape, _ reduced: [Int]) -> Shape {
        Shape(shape.dimensions.enumerated().map { reduced.contains($0.offset) ? 1 : $0.element })
    }

    private func dropped(_ shape: Shape, _ reduced: [Int]) -> Shape {
        let left = shape.dimensions.enumerated().filter { !reduced.contains($0.offset) }
        return Shape(left.map(\.element))
    }
}

/// The sum over axes (`torch.sum`).
package struct Sum: AxisReduction {
    package static let name = "sum"
    package let axes: [Int]
    package let keepDims: Bool

    package init(axes: [Int], keepDims: Bool) {
        self.axes = axes
        self.keepDims = keepDims
    }

    package func gradients(_ backward: Backward) throws(ShapeError) -> [Tensor?] {
        let shape = backward.inputs[0].shape
        return [backward.gradient.reshaped(try keptShape(of: shape)).broadcast(to: shape)]
    }
}

/// The mean over axes (`torch.mean`).
package struct Mean: AxisReduction {
    package static let name = "mean"
    package let axes: [Int]
    package let keepDims: Bool

    package init(axes: [Int], keepDims: Bool) {
        self.axes = axes
        self.keepDims = keepDims
    }

    package func gradients(_ backward: Backward) throws(ShapeError) -> [Tensor?] {
        let shape = backward.inputs[0].shape
        let share = Float(backward.output.shape.count) / Float(shape.count)
        let gradient = backward.gradient.reshaped(try keptShape(of: shape)) * share
        return [gradient.broadcast(to: shape)]
    }
}

/// The largest element over axes (`torch.amax`); equal maxima share the gradient evenly.
package struct Max: AxisReduction {
    package static let name = "max"
    package let axes: [Int]
    package let keepDims: Bool

    package init(axes: [Int], keepDims: Bool) {
        self.axes = axes
        self.keepDims = keepDims
    }

    package func gradients(_ backward: Backward) throws(ShapeError) -> [Tensor?] {
        let x = backward.inputs[0]
        let kept = try keptShape(of: x.shape)
        let reduced = try reducedAxes(of: x.shape)
        let winners = equal(x, backward.output.reshaped(kept))
        let share = backward.gradient.reshaped(kept) / winners.sum(axes: reduced, keepDims: true)
        return [winners * share]
    }
}

extension Tensor {
    /// The sum over `axes`; over all axes if the list is empty.
    public func sum(axes: [Int] = [], keepDims: Bool = false) -> Tensor {
        applying(Sum(axes: axes, keepDims: keepDims))
    }

    /// The mean over `axes`; over all axes if the list is empty.
    public func mean(axes: [Int] = [], keepDims: Bool = false) -> Tensor {
        applying(Mean(axes: axes, keepDims: keepDims))
    }

    /// The maximum over `axes`; over all axes if the list is empty.
    public func max(axes: [Int] = [], keepDims: Bool = false) -> Tensor {
        applying(Max(axes: axes, keepDims: keepDims))
    }
}
