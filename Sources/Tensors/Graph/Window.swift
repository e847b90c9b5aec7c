package import RetintTensors

/// A height and a width: of a stride, a dilation or a kernel.
public struct Pair: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The vertical part.
    public var height: Int
    /// The horizontal part.
    public var width: Int

    /// A height and a width.
    public init(_ height: Int, _ width: Int) {
        self.height = height
        self.width = width
    }

    /// The same height and width.
    public init(integerLiteral value: Int) {
        self.init(value, value)
    }

    /// The same height and width.
    public init(_ both: Int) {
        self.init(both, both)
    }
}

/// Rows and columns of padding around an image.
public struct Padding: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// Rows above and below, columns to the left and to the right.
    public var top, bottom, left, right: Int

    /// Padding of these widths.
    public init(top: Int, bottom: Int, left: Int, right: Int) {
        self.top = top
        self.bottom = bottom
        self.left = left
        self.right = right
    }

    /// The same on all four sides.
    public init(integerLiteral value: Int) {
        self.init(value)
    }

    /// The same on all four sides.
    public init(_ all: Int) {
        self.init(top: all, bottom: all, left: all, right: all)
    }

    var height: Int { top + bottom }
    var width: Int { left + right }
}

/// How a kernel moves over an image, in convolution and pooling.
public struct Window: Hashable, Sendable {
    /// Pixels from one position of the kernel to the next.
    public var stride: Pair
    /// Pixels added around the image.
    public var padding: Padding
    /// Pixels from one kernel element to the next.
    public var dilation: Pair

    /// A window; by default of stride 1, without padding or dilation.
    public init(stride: Pair = 1, padding: Padding = 0, dilation: Pair = 1) {
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
    }

    /// The largest stride, dilation, padding and side of a kernel. Kernels compute positions in
    /// padded images in 32 bits.
    package static let maximum = 1 << 20

    func validate() throws(ShapeError) {
        try Self.require(stride, "stride")
        try Self.require(dilation, "dilation")
        let sides = [padding.top, padding.bottom, padding.left, padding.right]
        try RetintTensors.require(
            sides.allSatisfy((0...Self.maximum).contains),
            "padding must be from 0 to \(Self.maximum), not \(sides)")
    }

    private static func require(_ pair: Pair, _ what: String) throws(ShapeError) {
        try RetintTensors.require(
            (1...maximum).contains(pair.height) && (1...maximum).contains(pair.width),
            "\(what) must be from 1 to \(maximum), not \(pair.height)×\(pair.width)")
    }

    /// The number of positions of a kernel in an image: ⌊(d + p − dilation·(k − 1) − 1)/stride⌋ +
    /// 1.
    package func positions(height: Int, width: Int, kernel: Pair) throws(ShapeError) -> Pair {
        try validate()
        try Self.require(kernel, "a kernel's side")
        let spanHeight = dilation.height * (kernel.height - 1) + 1
        let spanWidth = dilation.width * (kernel.width - 1) + 1
        let freeHeight = height + padding.height - spanHeight
        let freeWidth = width + padding.width - spanWidth
        try RetintTensors.require(
            freeHeight >= 0 && freeWidth >= 0,
            "a \(spanHeight)×\(spanWidth) window does not fit into "
                + "\(height + padding.height)×\(width + padding.width) padded pixels")
        return Pair(freeHeight / stride.height + 1, freeWidth / stride.width + 1)
    }

    /// The size of the smallest image in which a kernel has `positions` positions; for a window
    /// that is not valid, any size.
    func coveredExtent(positions: Pair, kernel: Pair) -> Pair {
        guard (try? validate()) != nil else { return 1 }
        return Pair(
            (positions.height - 1) * stride.height + dilation.height * (kernel.height - 1) + 1
                - padding.height,
            (positions.width - 1) * stride.width + dilation.width * (kernel.width - 1) + 1
                - padding.width)
    }

    /// The padding for which a kernel has ⌈size/stride⌉ positions; with `isLower`, an odd row or
    /// column is added before the image, else after it.
    package func samePadding(
        height: Int, width: Int, kernel: Pair, isLower: Bool
    ) -> Padding {
        var rows = WindowAxis(
            kernel: kernel.height, stride: stride.height, dilation: dilation.height)
        var columns = WindowAxis(
            kernel: kernel.width, stride: stride.width, dilation: dilation.width)
        rows.padSame(height, isLower: isLower)
        columns.padSame(width, isLower: isLower)
        return Window.image([rows, columns]).window.padding
    }
}
