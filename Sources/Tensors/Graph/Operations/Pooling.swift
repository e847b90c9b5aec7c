package import RetintTensors

/// The largest element of each window (`torch.nn.functional.max_pool2d`); padding is ignored.
package struct MaxPool: Operation {
    package static let name = "max_pool2d"
    package let kernel: Pair
    package let window: Window

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return try pooledShape(inputs[0], kernel, window)
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let rule = MaxPoolGradient(pool: self)
        return [backward.output.graph.apply(rule, [backward.inputs[0], backward.gradient])]
    }
}

/// The gradient of ``MaxPool``: each window's gradient goes to its first maximum. Inputs: x, dy.
package struct MaxPoolGradient: Operation {
    package static let name = "max_pool2d_input"
    package let pool: MaxPool

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        try require(
            try pool.outputShape(for: [inputs[0]]) == inputs[1], "the gradient is mis-shaped")
        return inputs[0]
    }
}

/// The mean of each window (`torch.nn.functional.avg_pool2d`).
package struct AveragePool: Operation {
    package static let name = "avg_pool2d"
    package let kernel: Pair
    package let window: Window
    /// Whether padding counts as zeros in the mean (PyTorch's default).
    package let countIncludePad: Bool

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        return try pooledShape(inputs[0], kernel, window)
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let shape = backward.inputs[0].shape
        return [backward.gradient.applying(AveragePoolGradient(pool: self, shape: shape))]
    }
}

/// The gradient of ``AveragePool``: each window's gradient, shared among its elements. Input: dy.
package struct AveragePoolGradient: Operation {
    package static let name = "avg_pool2d_input"
    package let pool: AveragePool
    package let shape: Shape

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try require(
            try pool.outputShape(for: [shape]) == inputs[0], "the gradient is mis-shaped")
        return shape
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        [backward.gradient.applying(pool)]
    }
}

private func pooledShape(
    _ x: Shape, _ kernel: Pair, _ window: Window
) throws(ShapeError) -> Shape {
    try requireRank(x, 4)
    let padding = window.padding
    try require(
        max(padding.top, padding.bottom) * 2 <= kernel.height
            && max(padding.left, padding.right) * 2 <= kernel.width,
        "padding must be at most half the kernel")
    let size = try window.positions(height: x[2], width: x[3], kernel: kernel)
    return [x[0], x[1], size.height, size.width]
}

/// The largest element of each window (`torch.nn.functional.max_pool2d`).
///
/// - Parameter stride: nil for the kernel's size.
public func maxPool2d(
    _ x: Tensor, kernel: Pair, stride: Pair? = nil, padding: Padding = 0
) -> Tensor {
    let window = Window(stride: stride ?? kernel, padding: padding)
    return x.applying(MaxPool(kernel: kernel, window: window))
}

/// The mean of each window (`torch.nn.functional.avg_pool2d`).
///
/// - Parameters:
///   - stride: nil for the kernel's size.
///   - countIncludePad: whether padding counts as zeros in the mean.
public func avgPool2d(
    _ x: Tensor, kernel: Pair, stride: Pair? = nil, padding: Padding = 0,
    countIncludePad: Bool = true
) -> Tensor {
    let window = Window(stride: stride ?? kernel, padding: padding)
    return x.applying(
        AveragePool(kernel: kernel, window: window, countIncludePad: countIncludePad))
}

/// The mean of each channel (`torch.nn.functional.adaptive_avg_pool2d` to 1×1): [N, C, 1, 1].
public func globalAvgPool2d(_ x: Tensor) -> Tensor {
    x.mean(axes: [2, 3], keepDims: true)
}
