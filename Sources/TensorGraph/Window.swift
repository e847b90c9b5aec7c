/// A height and a width: a stride, a dilation, a kernel's extent.
public struct Pair: Hashable, Sendable, ExpressibleByIntegerLiteral {
    public var height: Int
    public var width: Int

    public init(_ height: Int, _ width: Int) {
        self.height = height
        self.width = width
    }

    /// The same number both ways.
    public init(integerLiteral value: Int) {
        self.init(value, value)
    }

    public init(_ both: Int) {
        self.init(both, both)
    }
}

/// Rows and columns added around a picture.
public struct Padding: Hashable, Sendable, ExpressibleByIntegerLiteral {
    public var top, bottom, left, right: Int

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

    public init(_ all: Int) {
        self.init(top: all, bottom: all, left: all, right: all)
    }

    var height: Int { top + bottom }
    var width: Int { left + right }
    var isNonnegative: Bool { min(top, bottom, left, right) >= 0 }
}

/// A sliding window: what convolution and pooling share.
public struct Window: Hashable, Sendable {
    public var stride: Pair
    public var padding: Padding
    public var dilation: Pair

    public init(stride: Pair = 1, padding: Padding = 0, dilation: Pair = 1) {
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
    }

    func validate() throws(ShapeError) {
        try require(min(stride.height, stride.width) >= 1, "stride must be at least 1")
        try require(min(dilation.height, dilation.width) >= 1, "dilation must be at least 1")
        try require(padding.isNonnegative, "padding must not be negative")
    }

    /// How many places a kernel has in a picture: ⌊(d + p − dilation·(k − 1) − 1)/stride⌋ + 1.
    package func positions(height: Int, width: Int, kernel: Pair) throws(ShapeError) -> Pair {
        try validate()
        try require(min(kernel.height, kernel.width) >= 1, "a kernel needs at least one element")
        let spanHeight = dilation.height * (kernel.height - 1) + 1
        let spanWidth = dilation.width * (kernel.width - 1) + 1
        let freeHeight = height + padding.height - spanHeight
        let freeWidth = width + padding.width - spanWidth
        try require(
            freeHeight >= 0 && freeWidth >= 0,
            "a \(spanHeight)×\(spanWidth) window does not fit into "
                + "\(height + padding.height)×\(width + padding.width) padded pixels")
        return Pair(freeHeight / stride.height + 1, freeWidth / stride.width + 1)
    }

    /// The picture's extent of which `positions` came, without rows that no window reached.
    func coveredExtent(positions: Pair, kernel: Pair) -> Pair {
        Pair(
            (positions.height - 1) * stride.height + dilation.height * (kernel.height - 1) + 1
                - padding.height,
            (positions.width - 1) * stride.width + dilation.width * (kernel.width - 1) + 1
                - padding.width)
    }
}
