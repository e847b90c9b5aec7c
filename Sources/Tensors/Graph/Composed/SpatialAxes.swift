package import RetintTensors

// Convolution and pooling of one, two or three spatial axes, by those of two.

/// How a kernel moves along one spatial axis.
package struct WindowAxis: Hashable, Sendable {
    package var kernel, stride, dilation: Int
    /// Elements added at the start and at the end of the axis.
    package var before, after: Int

    package init(
        kernel: Int = 1, stride: Int = 1, dilation: Int = 1, before: Int = 0, after: Int = 0
    ) {
        (self.kernel, self.stride, self.dilation) = (kernel, stride, dilation)
        (self.before, self.after) = (before, after)
    }

    /// The elements that the kernel covers.
    package var span: Int { dilation * (kernel - 1) + 1 }

    /// Pads such that the kernel has ⌈size/stride⌉ positions; with `isLower`, an odd element is
    /// added at the start, else at the end.
    package mutating func padSame(_ size: Int, isLower: Bool) {
        let total = max(0, ((size + stride - 1) / stride - 1) * stride + span - size)
        before = (total + (isLower ? 1 : 0)) / 2
        after = total - before
    }

    /// Pads at the end such that the last window is complete (PyTorch's `ceil_mode`). A window that
    /// would begin in the padding at the end does not count.
    package mutating func roundUp(_ size: Int) {
        let whole = before + size
        let free = whole + after - span
        guard free >= 0 else { return }
        var last = (free + stride - 1) / stride
        if last * stride >= whole { last -= 1 }
        after = max(0, last * stride + span - whole)
    }
}

extension Window {
    /// The window of a height and a width, and its kernel.
    package static func image(_ axes: [WindowAxis]) -> (window: Window, kernel: Pair) {
        let (rows, columns) = (axes[0], axes[1])
        let window = Window(
            stride: Pair(rows.stride, columns.stride),
            padding: Padding(
                top: rows.before, bottom: rows.after, left: columns.before, right: columns.after),
            dilation: Pair(rows.dilation, columns.dilation))
        return (window, Pair(rows.kernel, columns.kernel))
    }
}

/// A tensor with one spatial axis, [N, C, W], as images of one row; one with two as it is.
package struct RowImages {
    package let image: Tensor
    /// Whether there is one spatial axis.
    package let isRow: Bool

    package init(_ x: Tensor) {
        isRow = x.shape.rank == 3
        image = isRow ? x.reshaped([x.shape[0], x.shape[1], 1, x.shape[2]]) : x
    }

    /// The axes of the images for those of the tensor.
    package func axes(_ axes: [WindowAxis]) -> [WindowAxis] { isRow ? [WindowAxis()] + axes : axes }

    /// A result of images as a tensor with as many axes as the original.
    package func restored(_ y: Tensor) -> Tensor {
        isRow && y.shape.rank == 4 && y.shape[2] == 1
            ? y.reshaped([y.shape[0], y.shape[1], y.shape[3]]) : y
    }
}

/// `torch.nn.functional.conv1d`, `conv2d` and `conv3d`.
///
/// - Parameters:
///   - x: [N, C, …] with as many spatial axes as `axes`, from one to three.
///   - weight: [O, C/groups, …].
///   - axes: the kernel's sides are those of the weight.
package func convolution(
    _ x: Tensor, weight: Tensor, bias: Tensor?, _ axes: [WindowAxis], groups: Int
) throws(ShapeError) -> Tensor {
    try requireSpatial(x, axes)
    try require(
        weight.shape.rank == x.shape.rank, "a weight of \(weight.shape) does not fit \(x.shape)")
    guard axes.count == 3 else {
        let (images, kernels) = (RowImages(x), RowImages(weight))
        let window = Window.image(images.axes(axes)).window
        return images.restored(
            conv2d(
                images.image, weight: kernels.image, bias: bias, stride: window.stride,
                padding: window.padding, dilation: window.dilation, groups: groups))
    }
    let (images, count) = try depthInChannels(x, axes[0])
    let w = weight.shape
    let window = Window.image(Array(axes[1...])).window
    let y = conv2d(
        images, weight: weight.reshaped([w[0], w[1] * w[2], w[3], w[4]]), bias: bias,
        stride: window.stride, padding: window.padding, dilation: window.dilation, groups: groups)
    guard y.shape.rank == 4 else { return y }
    return y.reshaped([x.shape[0], count, y.shape[1], y.shape[2], y.shape[3]])
        .transposed([0, 2, 1, 3, 4])
}

/// [N, C, D, H, W] as images for each position of a kernel along D, with what it covers there as
/// channels: [N·positions, C·kernel, H, W].
private func depthInChannels(
    _ x: Tensor, _ axis: WindowAxis
) throws(ShapeError) -> (images: Tensor, count: Int) {
    let s = x.shape
    let padded =
        axis.before == 0 && axis.after == 0
        ? x
        : x.padded(before: [0, 0, axis.before, 0, 0], after: [0, 0, axis.after, 0, 0], value: 0)
    let size = s[2] + axis.before + axis.after
    try require(
        axis.kernel >= 1 && axis.kernel <= 64 && axis.stride >= 1 && axis.span <= size,
        "a kernel of depth \(axis.kernel) does not fit into \(size) padded elements")
    let count = (size - axis.span) / axis.stride + 1
    let parts = (0..<axis.kernel).map { element in
        let start = element * axis.dilation
        return padded.sliced(
            from: [0, 0, start, 0, 0],
            to: [s[0], s[1], start + (count - 1) * axis.stride + 1, s[3], s[4]],
            stride: [1, 1, axis.stride, 1, 1]
        ).reshaped([s[0], s[1], 1, count, s[3], s[4]])
    }
    let columns = parts.count == 1 ? parts[0] : concat(parts, axis: 2)
    let images = columns.transposed([0, 3, 1, 2, 4, 5])
        .reshaped([s[0] * count, s[1] * axis.kernel, s[3], s[4]])
    return (images, count)
}

/// `torch.nn.functional.max_pool1d`, `max_pool2d` and `max_pool3d`, of x, [N, C, …].
package func maxPool(_ x: Tensor, _ axes: [WindowAxis]) throws(ShapeError) -> Tensor {
    try pooled(x, axes) { x, axes in
        let (window, kernel) = Window.image(axes)
        guard axes.contains(where: \.isPaddedWidely) else {
            return maxPool2d(x, kernel: kernel, stride: window.stride, padding: window.padding)
        }
        let padded = x.padded(axes, value: -.greatestFiniteMagnitude)
        return maxPool2d(padded, kernel: kernel, stride: window.stride)
    }
}

/// `torch.nn.functional.avg_pool1d`, `avg_pool2d` and `avg_pool3d`, of x, [N, C, …].
package func avgPool(
    _ x: Tensor, _ axes: [WindowAxis], countIncludePad: Bool
) throws(ShapeError) -> Tensor {
    try pooled(x, axes) { x, axes in
        let (window, kernel) = Window.image(axes)
        guard axes.contains(where: \.isPaddedWidely) else {
            return avgPool2d(
                x, kernel: kernel, stride: window.stride, padding: window.padding,
                countIncludePad: countIncludePad)
        }
        let mean = { (x: Tensor) in
            avgPool2d(x.padded(axes, value: 0), kernel: kernel, stride: window.stride)
        }
        guard !countIncludePad else { return mean(x) }
        let ones = x.graph.constant(1).broadcast(to: [1, 1, x.shape[2], x.shape[3]])
        return mean(x) / mean(ones)
    }
}

extension WindowAxis {
    /// Whether padding is wider than half the kernel, which the engine's pooling refuses.
    fileprivate var isPaddedWidely: Bool { 2 * max(before, after) > kernel }
}

extension Tensor {
    /// An image with the padding of its height and width.
    fileprivate func padded(_ axes: [WindowAxis], value: Float) -> Tensor {
        padded(
            before: [0, 0, axes[0].before, axes[1].before],
            after: [0, 0, axes[0].after, axes[1].after], value: value)
    }
}

/// Pools height and width, then depth, which is the same for maxima and means.
private func pooled(
    _ x: Tensor, _ axes: [WindowAxis], _ pool: (Tensor, [WindowAxis]) -> Tensor
) throws(ShapeError) -> Tensor {
    try requireSpatial(x, axes)
    try require(axes.allSatisfy { $0.dilation == 1 }, "pooling with a dilation is not supported")
    guard axes.count == 3 else {
        let images = RowImages(x)
        return images.restored(pool(images.image, images.axes(axes)))
    }
    let s = x.shape
    let flat = pool(x.reshaped([s[0], s[1] * s[2], s[3], s[4]]), Array(axes[1...]))
    guard flat.shape.rank == 4 else { return flat }
    let (height, width) = (flat.shape[2], flat.shape[3])
    let deep = pool(
        flat.reshaped([s[0], s[1], s[2], height * width]), [axes[0], WindowAxis()])
    guard deep.shape.rank == 4 else { return deep }
    return deep.reshaped([s[0], s[1], deep.shape[2], height, width])
}

private func requireSpatial(_ x: Tensor, _ axes: [WindowAxis]) throws(ShapeError) {
    try require(
        (1...3).contains(axes.count) && x.shape.rank == axes.count + 2,
        "one to three spatial axes are supported, not those of shape \(x.shape)")
}
