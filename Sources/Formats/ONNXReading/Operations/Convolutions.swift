import RetintGraph
import RetintTensors

/// Convolutions in one, two and three dimensions; transposed ones in one and two; images from
/// columns.
enum Convolutions: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Conv": OperationRule(parameters: [1, 2], convolution),
        "ConvTranspose": OperationRule(parameters: [1, 2], transposed),
        "Col2Im": OperationRule(folded),
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

    /// Columns of windows, [N, C·KH·KW, positions], each added to an image at its place
    /// (`torch.nn.functional.fold`): a transposed convolution with kernels of a single 1.
    @Sendable private static func folded(_ node: NodeContext) throws -> [ONNXValue] {
        let (columns, size, block) = (
            try node.tensor(0), try node.integers(1), try node.integers(2)
        )
        guard columns.shape.rank == 3, size.count == 2, block.count == 2 else {
            throw node.error("only images with two spatial dimensions are supported")
        }
        guard (size + block).allSatisfy({ (1...Window.maximum).contains($0) }),
            columns.shape[1] % (block[0] * block[1]) == 0
        else {
            throw node.error(
                "columns of \(columns.shape) do not fit windows of \(block)", ONNXError.damaged)
        }
        let (count, rows) = (columns.shape[0], columns.shape[1])
        let one = try Planes(columns.reshaped([count, rows, 1, columns.shape[2]]), node)
        var window = try node.window(one)
        window.padding = try node.explicitPadding(one)
        let kernel = Pair(block[0], block[1])
        let places = try window.positions(height: size[0], width: size[1], kernel: kernel)
        guard places.height * places.width == columns.shape[2] else {
            throw node.error(
                "\(columns.shape[2]) columns do not fit \(places.height) × \(places.width) windows",
                ONNXError.damaged)
        }
        let area = block[0] * block[1]
        try node.takeHost([rows, area])
        let ones = (0..<rows * area).map { $0 / area % area == $0 % area ? Float(1) : 0 }
        let kernels = ONNXTensor(floats: ones, dimensions: [rows, 1] + block)
        let full = extent(of: places, kernel, window)
        let y = convTranspose2d(
            columns.reshaped([count, rows, places.height, places.width]),
            weight: try node.tensor(.host(kernels)), stride: window.stride,
            padding: window.padding,
            outputPadding: Pair(
                size[0] + window.padding.top + window.padding.bottom - full.height,
                size[1] + window.padding.left + window.padding.right - full.width),
            dilation: window.dilation, groups: rows / area)
        return [.tensor(y, try node.value(0).type)]
    }

    /// The size of what the kernel covers at so many places, with padding.
    private static func extent(of places: Pair, _ kernel: Pair, _ window: Window) -> Pair {
        Pair(
            (places.height - 1) * window.stride.height
                + (kernel.height - 1) * window.dilation.height + 1,
            (places.width - 1) * window.stride.width
                + (kernel.width - 1) * window.dilation.width + 1)
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
        let full = extent(of: Pair(height, width), kernel, window)
        let rows = Swift.max(0, full.height + extra.height - wanted.height)
        let columns = Swift.max(0, full.width + extra.width - wanted.width)
        // Only SAME_UPPER puts the odd element at the end.
        let odd = mode == .sameUpper ? 0 : 1
        let (top, left) = ((rows + odd) / 2, (columns + odd) / 2)
        window.padding = Padding(top: top, bottom: rows - top, left: left, right: columns - left)
        return Pair(wanted.height + rows - full.height, wanted.width + columns - full.width)
    }
}
