package import RetintTensors

/// Cross-correlation of images with kernels (`torch.nn.functional.conv2d`).
///
/// x is [N, Cin, H, W], weight [Cout, Cin/groups, KH, KW], the optional bias [Cout].
package struct Convolution: Operation {
    package static let name = "conv2d"
    package let window: Window
    package let groups: Int

    package init(window: Window, groups: Int) {
        (self.window, self.groups) = (window, groups)
    }

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...3)
        let (x, weight) = (inputs[0], inputs[1])
        try requireRank(x, 4)
        try requireRank(weight, 4, "weight")
        try require(groups >= 1, "groups must be at least 1")
        try require(
            x[1] == weight[1] * groups && weight[0] % groups == 0,
            "weight \(weight) with \(groups) groups does not fit \(x[1]) input channels")
        if inputs.count == 3 {
            try require(inputs[2] == [weight[0]], "bias must have shape [\(weight[0])]")
        }
        let size = try window.positions(
            height: x[2], width: x[3], kernel: Pair(weight[2], weight[3]))
        return [x[0], weight[0], size.height, size.width]
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, weight, dy) = (backward.inputs[0], backward.inputs[1], backward.gradient)
        let kernel = Pair(weight.shape[2], weight.shape[3])
        let size = Pair(x.shape[2], x.shape[3])
        let dx = backward.ifNeeded(0) {
            let transpose = ConvolutionTranspose(
                window: window, groups: groups, outputSize: size)
            return dy.graph.apply(transpose, [dy, weight])
        }
        let dw = backward.ifNeeded(1) {
            let rule = ConvolutionWeightGradient(window: window, groups: groups, kernel: kernel)
            return dy.graph.apply(rule, [x, dy])
        }
        guard backward.inputs.count == 3 else { return [dx, dw] }
        return [dx, dw, backward.ifNeeded(2) { dy.sum(axes: [0, 2, 3]) }]
    }
}

/// Cross-correlation of images with kernels (`torch.nn.functional.conv2d`).
///
/// - Parameters:
///   - x: images, [N, Cin, H, W].
///   - weight: kernels, [Cout, Cin/groups, KH, KW].
///   - bias: [Cout].
/// - Returns: [N, Cout, OH, OW].
public func conv2d(
    _ x: Tensor, weight: Tensor, bias: Tensor? = nil, stride: Pair = 1, padding: Padding = 0,
    dilation: Pair = 1, groups: Int = 1
) -> Tensor {
    let window = Window(stride: stride, padding: padding, dilation: dilation)
    let inputs = [x, weight] + (bias.map { [$0] } ?? [])
    return x.graph.apply(Convolution(window: window, groups: groups), inputs)
}
