import RetintGraph

/// Convolutions in one, two and three dimensions; transposed ones in one and two.
enum Convolutions: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Conv": OperationRule(parameters: [1, 2], convolution),
        "ConvTranspose": OperationRule(parameters: [1, 2], transposed),
    ]

    @Sendable private static func convolution(_ node: NodeContext) throws -> [ONNXValue] {
        let (x, weight) = (try node.input(0, ofWeight: 1), try node.weight(1, outputAxis: 0))
        let y = try RetintGraph.convolution(
            x, weight: weight, bias: try node.optionalTensor(2),
            try node.windowAxes(x.shape, kernel: Array(weight.shape.dimensions.dropFirst(2))),
            groups: try node.count("group", default: 1))
        return [.tensor(y, try node.value(0).type)]
    }

    /// The input, the weight, and the extents of the weight's kernels.
    private static func operands(
        _ node: NodeContext
    ) throws -> (x: Planes, weight: Planes, kernel: Pair) {
        let (x, weight) = (try node.input(0, ofWeight: 1), try node.weight(1, outputAxis: 1))
        guard x.shape.rank == weight.shape.rank else {
            throw node.error(
                "a weight of \(weight.shape) does not fit \(x.shape)", ONNXError.damaged)
        }
        let (images, kernels) = (try Planes(x, node), try Planes(weight, node))
        return (images, kernels, Pair(kernels.image.shape[2], kernels.image.shape[3]))
    }

    @Sendable private static func transposed(_ node: NodeContext) throws -> [ONNXValue] {
        let (x, weight, kernel) = try operands(node)
        var window = try node.window(x)
        let extra = try outputPadding(node, x, kernel, &window)
        let y = convTranspose2d(
            x.image, weight: weight.image, bias: try node.optionalTensor(2),
            stride: window.stride, padding: window.padding, outputPadding: extra,
            dilation: window.dilation, groups: try node.count("group", default: 1))
        return [.tensor(x.restored(y), try node.value(0).type)]
    }

    /// The size added to the smallest output of a transposed convolution, and its padding, which
    /// may follow from the size of the output.
    private static func outputPadding(
        _ node: NodeContext, _ x: Planes, _ kernel: Pair, _ window: inout Window
    ) throws -> Pair {
        let extra = try node.pair("output_padding", x, default: 0)
        let mode = try node.paddingMode()
        let (height, width) = (x.image.shape[2], x.image.shape[3])
        let wanted: Pair
        if node.has("output_shape") {
            wanted = try node.pair("output_shape", x, default: 0)
        } else if mode == .sameUpper || mode == .sameLower {
            wanted = Pair(height * window.stride.height, width * window.stride.width)
        } else {
            window.padding = mode == .valid ? 0 : try node.explicitPadding(x)
            return extra
        }
        let full = Pair(
            (height - 1) * window.stride.height + (kernel.height - 1) * window.dilation.height + 1,
            (width - 1) * window.stride.width + (kernel.width - 1) * window.dilation.width + 1)
        let rows = Swift.max(0, full.height + extra.height - wanted.height)
        let columns = Swift.max(0, full.width + extra.width - wanted.width)
        // Only SAME_UPPER puts the odd element at the end.
        let odd = mode == .sameUpper ? 0 : 1
        let (top, left) = ((rows + odd) / 2, (columns + odd) / 2)
        window.padding = Padding(top: top, bottom: rows - top, left: left, right: columns - left)
        return Pair(wanted.height + rows - full.height, wanted.width + columns - full.width)
    }
}
