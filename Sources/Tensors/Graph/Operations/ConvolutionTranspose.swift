package import RetintTensors

/// The transposed convolution (`torch.nn.functional.conv_transpose2d`), which is also the gradient
/// of ``Convolution`` with respect to its input.
///
/// x is [N, Cin, H, W], weight [Cin, Cout/groups, KH, KW], the optional bias [Cout]. `outputSize`
/// stands for PyTorch's output_padding: it may exceed the smallest possible extent by less than
/// the stride.
package struct ConvolutionTranspose: Operation {
    package static let name = "conv_transpose2d"
    package let window: Window
    package let groups: Int
    package let outputSize: Pair

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...3)
        let (x, weight) = (inputs[0], inputs[1])
        try requireRank(x, 4)
        try requireRank(weight, 4, "weight")
        try require(groups >= 1, "groups must be at least 1")
        try require(
            x[1] == weight[0] && x[1] % groups == 0,
            "weight \(weight) with \(groups) groups does not fit \(x[1]) input channels")
        let channels = weight[1] * groups
        if inputs.count == 3 {
            try require(inputs[2] == [channels], "bias must have shape [\(channels)]")
        }
        let size = try window.positions(
            height: outputSize.height, width: outputSize.width, kernel: Pair(weight[2], weight[3]))
        try require(
            size == Pair(x[2], x[3]),
            "an output of \(outputSize.height)×\(outputSize.width) does not come from \(x)")
        return [x[0], channels, outputSize.height, outputSize.width]
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, weight, dy) = (backward.inputs[0], backward.inputs[1], backward.gradient)
        let kernel = Pair(weight.shape[2], weight.shape[3])
        let dx = backward.ifNeeded(0) {
            dy.graph.apply(Convolution(window: window, groups: groups), [dy, weight])
        }
        let dw = backward.ifNeeded(1) {
            let rule = ConvolutionWeightGradient(window: window, groups: groups, kernel: kernel)
            return dy.graph.apply(rule, [dy, x])
        }
        guard backward.inputs.count == 3 else { return [dx, dw] }
        return [dx, dw, backward.ifNeeded(2) { dy.sum(axes: [0, 2, 3]) }]
    }
}

/// The transposed convolution (`torch.nn.functional.conv_transpose2d`).
///
/// - Parameters:
///   - x: images, [N, Cin, H, W].
///   - weight: kernels, [Cin, Cout/groups, KH, KW].
///   - bias: [Cout].
///   - outputPadding: added to the smallest possible output; less than the stride.
/// - Returns: [N, Cout, OH, OW].
public func convTranspose2d(
    _ x: Tensor, weight: Tensor, bias: Tensor? = nil, stride: Pair = 1, padding: Padding = 0,
    outputPadding: Pair = 0, dilation: Pair = 1, groups: Int = 1
) -> Tensor {
    let window = Window(stride: stride, padding: padding, dilation: dilation)
    var size = Pair(1)
    if x.shape.rank == 4 && weight.shape.rank == 4 {
        size = window.coveredExtent(
            positions: Pair(x.shape[2], x.shape[3]),
            kernel: Pair(weight.shape[2], weight.shape[3]))
        size = Pair(size.height + outputPadding.height, size.width + outputPadding.width)
    }
    let operation = ConvolutionTranspose(window: window, groups: groups, outputSize: size)
    return x.graph.apply(operation, [x, weight] + (bias.map { [$0] } ?? []))
}
