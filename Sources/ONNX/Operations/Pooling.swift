import TensorGraph

/// Pooling in one and two dimensions.
enum Pooling: OperationFamily {
    static let rules: [String: OperationRule] = [
        "MaxPool": OperationRule { node in
            try node.requireOneOutput()
            let x = try Planes(node.tensor(0), node)
            let (kernel, window, extra) = try geometry(node, x)
            guard window.dilation == 1 else { throw node.error("dilations are not supported") }
            let y = maxPool2d(
                x.image, kernel: kernel, stride: window.stride, padding: window.padding + extra)
            return [.tensor(x.restored(y), try node.value(0).type)]
        },
        "AveragePool": OperationRule(average),
        "GlobalAveragePool": global { $0.mean(axes: $1, keepDims: true) },
        "GlobalMaxPool": global { $0.max(axes: $1, keepDims: true) },
    ]

    private static func global(
        _ reduce: @escaping @Sendable (Tensor, [Int]) -> Tensor
    ) -> OperationRule {
        OperationRule { node in
            let x = try node.tensor(0)
            guard x.shape.rank > 2 else { throw node.error("it takes [N, C, …], not \(x.shape)") }
            return [.tensor(reduce(x, Array(2..<x.shape.rank)), try node.value(0).type)]
        }
    }

    @Sendable private static func average(_ node: NodeContext) throws -> [ONNXValue] {
        let x = try Planes(node.tensor(0), node)
        var (kernel, window, extra) = try geometry(node, x)
        guard window.dilation == 1 else { throw node.error("dilations are not supported") }
        var image = x.image
        var countsPadding = try node.flag("count_include_pad")
        if countsPadding, extra != 0 {
            // The padding counts, but not what only completes the last window.
            image = image.padded(
                before: [0, 0, window.padding.top, window.padding.left],
                after: [0, 0, window.padding.bottom, window.padding.right])
            (window.padding, countsPadding) = (0, false)
        }
        let y = avgPool2d(
            image, kernel: kernel, stride: window.stride, padding: window.padding + extra,
            countIncludePad: countsPadding)
        return [.tensor(x.restored(y), try node.value(0).type)]
    }

    /// The kernel and the window, and the padding at the end that `ceil_mode` adds so that the last
    /// window is whole.
    private static func geometry(
        _ node: NodeContext, _ x: Planes
    ) throws -> (kernel: Pair, window: Window, extra: Padding) {
        guard node.has("kernel_shape") else {
            throw node.error("it has no kernel_shape", ONNXError.damaged)
        }
        let kernel = try node.pair("kernel_shape", x, default: 1)
        var window = try node.window(x)
        window.padding = try node.padding(x, window, kernel)
        guard try node.flag("ceil_mode") else { return (kernel, window, 0) }
        let pad = window.padding
        let shape = x.image.shape
        let bottom = missing(shape[2], pad.top, pad.bottom, window.stride.height, kernel.height)
        let right = missing(shape[3], pad.left, pad.right, window.stride.width, kernel.width)
        return (kernel, window, Padding(top: 0, bottom: bottom, left: 0, right: right))
    }

    /// How many elements the last window lacks; a window that starts in the end's padding does not
    /// count.
    private static func missing(
        _ size: Int, _ before: Int, _ after: Int, _ stride: Int, _ kernel: Int
    ) -> Int {
        let free = size + before + after - kernel
        guard free >= 0 else { return 0 }
        var last = (free + stride - 1) / stride
        if last * stride >= size + before { last -= 1 }
        return Swift.max(0, last * stride - free)
    }
}

extension Padding {
    fileprivate static func + (a: Self, b: Self) -> Self {
        Self(
            top: a.top + b.top, bottom: a.bottom + b.bottom, left: a.left + b.left,
            right: a.right + b.right)
    }
}
