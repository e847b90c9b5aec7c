import RetintGraph
import RetintTensors

/// Pooling in one, two and three dimensions.
enum Pooling: OperationFamily {
    static let rules: [String: OperationRule] = [
        "MaxPool": OperationRule { node in
            try node.requireOneOutput()
            if let y = try volumes(node, { try maxPool($0, $1) }) { return y }
            let x = try Planes(node.tensor(0), node)
            let pool = try Pool(node, x)
            return [.tensor(x.restored(try pool.maximum(x.image)), try node.value(0).type)]
        },
        "AveragePool": OperationRule { node in
            let countsPadding = try node.flag("count_include_pad")
            if let y = try volumes(node, { try avgPool($0, $1, countIncludePad: countsPadding) }) {
                return y
            }
            let x = try Planes(node.tensor(0), node)
            let pool = try Pool(node, x)
            let y = try pool.average(x.image, countsPadding: countsPadding)
            return [.tensor(x.restored(y), try node.value(0).type)]
        },
        "GlobalAveragePool": global { $0.mean(axes: $1, keepDims: true) },
        "GlobalMaxPool": global { $0.max(axes: $1, keepDims: true) },
    ]

    /// Pools three dimensions; nil if there are fewer.
    private static func volumes(
        _ node: NodeContext, _ pool: (Tensor, [WindowAxis]) throws -> Tensor
    ) throws -> [ONNXValue]? {
        let x = try node.tensor(0)
        guard x.shape.rank == 5 else { return nil }
        guard let kernel = try node.integers("kernel_shape"), kernel.count == 3 else {
            throw node.error("it needs a kernel_shape of three sides", ONNXError.damaged)
        }
        guard try !node.flag("ceil_mode") else {
            throw node.error("ceil_mode is not supported in three dimensions")
        }
        return [
            .tensor(try pool(x, node.windowAxes(x.shape, kernel: kernel)), try node.value(0).type)
        ]
    }

    private static func global(
        _ reduce: @escaping @Sendable (Tensor, [Int]) -> Tensor
    ) -> OperationRule {
        OperationRule { node in
            let x = try node.tensor(0)
            guard x.shape.rank > 2 else { throw node.error("it takes [N, C, …], not \(x.shape)") }
            return [.tensor(reduce(x, Array(2..<x.shape.rank)), try node.value(0).type)]
        }
    }
}

/// A window that moves over images.
private struct Pool {
    private let node: NodeContext
    private let kernel: Pair
    private let window: Window
    /// The padding that `ceil_mode` adds at the end so that the last window is complete.
    private let extra: Padding
    private let positions: Pair

    /// The largest window that is assembled from slices, in elements.
    private static let largestKernel = 256

    init(_ node: NodeContext, _ x: Planes) throws {
        self.node = node
        guard node.has("kernel_shape") else {
            throw node.error("it has no kernel_shape", ONNXError.damaged)
        }
        let kernel = try node.pair("kernel_shape", x, default: 1)
        var window = try node.window(x)
        window.padding = try node.padding(x, window, kernel)
        let (shape, pad) = (x.image.shape, window.padding)
        extra =
            try !node.flag("ceil_mode")
            ? 0
            : Padding(
                top: 0,
                bottom: Self.missing(
                    shape[2] + pad.top, pad.bottom, window.stride.height,
                    (kernel.height - 1) * window.dilation.height + 1),
                left: 0,
                right: Self.missing(
                    shape[3] + pad.left, pad.right, window.stride.width,
                    (kernel.width - 1) * window.dilation.width + 1))
        var whole = window
        whole.padding = pad + extra
        positions = try whole.positions(height: shape[2], width: shape[3], kernel: kernel)
        (self.kernel, self.window) = (kernel, window)
    }

    /// How many elements the last window lacks.
    private static func missing(_ size: Int, _ after: Int, _ stride: Int, _ span: Int) -> Int {
        var axis = WindowAxis(kernel: span, stride: stride, after: after)
        axis.roundUp(size)
        return Swift.max(0, axis.after - after)
    }

    /// Whether the engine's pooling is the same: without dilation, and with padding of at most half
    /// the kernel.
    private var isPlain: Bool {
        let whole = window.padding + extra
        return window.dilation == 1
            && 2 * Swift.max(whole.top, whole.bottom) <= kernel.height
            && 2 * Swift.max(whole.left, whole.right) <= kernel.width
    }

    func maximum(_ x: Tensor) throws -> Tensor {
        if isPlain {
            return maxPool2d(
                x, kernel: kernel, stride: window.stride, padding: window.padding + extra)
        }
        let padded = padded(x, -.greatestFiniteMagnitude)
        if window.dilation == 1 {
            return maxPool2d(padded, kernel: kernel, stride: window.stride)
        }
        let slices = try slices(padded)
        return slices.dropFirst().reduce(slices[0], RetintGraph.maximum)
    }

    func average(_ x: Tensor, countsPadding: Bool) throws -> Tensor {
        // Padding that only completes the last window never counts.
        if isPlain, !countsPadding || extra == 0 {
            return avgPool2d(
                x, kernel: kernel, stride: window.stride, padding: window.padding + extra,
                countIncludePad: countsPadding)
        }
        let padded = padded(x, 0)
        let sum: Tensor
        if window.dilation == 1 {
            let mean = avgPool2d(padded, kernel: kernel, stride: window.stride)
            sum = mean * Float(kernel.height * kernel.width)
        } else {
            let slices = try slices(padded)
            sum = slices.dropFirst().reduce(slices[0], +)
        }
        try node.takeHost([positions.height + positions.width])
        let pad = countsPadding ? window.padding : 0
        let rows = shares(
            -pad.top..<(x.shape[2] + pad.bottom), from: -window.padding.top, positions.height,
            kernel.height, window.stride.height, window.dilation.height)
        let columns = shares(
            -pad.left..<(x.shape[3] + pad.right), from: -window.padding.left, positions.width,
            kernel.width, window.stride.width, window.dilation.width)
        let graph = x.graph
        return sum * graph.constant(TensorData(shape: [rows.count, 1], scalars: rows))
            * graph.constant(TensorData(shape: [columns.count], scalars: columns))
    }

    private func padded(_ x: Tensor, _ value: Float) -> Tensor {
        let padding = window.padding + extra
        return x.padded(
            before: [0, 0, padding.top, padding.left],
            after: [0, 0, padding.bottom, padding.right],
            value: value)
    }

    /// For each element of the kernel, the elements of the padded image under it.
    private func slices(_ x: Tensor) throws -> [Tensor] {
        guard kernel.height * kernel.width <= Self.largestKernel else {
            throw node.error(
                "a dilated kernel of over \(Self.largestKernel) elements is not supported")
        }
        let reach = Pair(
            (positions.height - 1) * window.stride.height + 1,
            (positions.width - 1) * window.stride.width + 1)
        return (0..<kernel.height).flatMap { row in
            (0..<kernel.width).map { column in
                let (top, left) = (row * window.dilation.height, column * window.dilation.width)
                return x.sliced(
                    from: [0, 0, top, left],
                    to: [x.shape[0], x.shape[1], top + reach.height, left + reach.width],
                    stride: [1, 1, window.stride.height, window.stride.width])
            }
        }
    }

    /// For each position along an axis, 1 over the number of kernel elements in `counted`.
    private func shares(
        _ counted: Range<Int>, from start: Int, _ positions: Int, _ kernel: Int, _ stride: Int,
        _ dilation: Int
    ) -> [Float] {
        (0..<positions).map { position in
            let first = start + position * stride
            /// The elements of the kernel before a row or column of the image.
            func elements(before end: Int) -> Int {
                end <= first ? 0 : min((end - first - 1) / dilation + 1, kernel)
            }
            let count = elements(before: counted.upperBound) - elements(before: counted.lowerBound)
            return 1 / Float(max(1, count))
        }
    }
}

extension Padding {
    fileprivate static func + (a: Self, b: Self) -> Self {
        Self(
            top: a.top + b.top, bottom: a.bottom + b.bottom, left: a.left + b.left,
            right: a.right + b.right)
    }
}
