/// The extents of a tensor, outermost first: `[N, C, H, W]` for a batch of images.
///
/// A shape without dimensions is a scalar, which has one element.
public struct Shape: Hashable, Sendable {
    /// The extents, outermost first.
    public var dimensions: [Int]

    /// A shape of these extents, outermost first.
    public init(_ dimensions: [Int]) {
        self.dimensions = dimensions
    }

    /// The shape of a single value: no dimensions.
    public static let scalar = Shape([])

    /// The number of dimensions.
    public var rank: Int { dimensions.count }

    /// The number of elements: the product of the dimensions, 1 for a scalar.
    public var count: Int { dimensions.reduce(1, *) }

    /// The extent at `axis`; negative axes count from the end.
    public subscript(axis: Int) -> Int {
        get { dimensions[axis < 0 ? axis + rank : axis] }
        set { dimensions[axis < 0 ? axis + rank : axis] = newValue }
    }

    /// The largest rank of a tensor in a graph.
    package static let maximumRank = 8
    /// The largest extent of a tensor in a graph. Kernels count rows and columns in 32 bits,
    /// including padding and the reach of a window.
    package static let maximumExtent = 1 << 30
    /// The largest number of elements of a tensor in a graph: 4 TiB.
    package static let maximumCount = 1 << 40

    /// Throws unless a tensor in a graph can have this shape.
    package func validate() throws(ShapeError) {
        try require(
            rank <= Self.maximumRank,
            "a tensor has at most \(Self.maximumRank) axes, not \(rank)")
        var count = 1
        for extent in dimensions {
            try require(extent >= 1, "shape \(self) has no elements")
            try require(
                extent <= Self.maximumExtent,
                "an extent of shape \(self) is above \(Self.maximumExtent)")
            let (product, overflows) = count.multipliedReportingOverflow(by: extent)
            try require(
                !overflows && product <= Self.maximumCount,
                "shape \(self) has more than \(Self.maximumCount) elements")
            count = product
        }
    }

    /// Row-major strides in elements.
    public var strides: [Int] {
        var strides = [Int](repeating: 1, count: rank)
        for axis in stride(from: rank - 2, through: 0, by: -1) {
            strides[axis] = strides[axis + 1] * dimensions[axis + 1]
        }
        return strides
    }
}

extension Shape: ExpressibleByArrayLiteral {
    /// A shape of these extents, outermost first: `[1, 3, 256, 256]`.
    public init(arrayLiteral elements: Int...) {
        self.init(elements)
    }
}

extension Shape: CustomStringConvertible {
    /// The extents in brackets, such as `[1, 3, 256, 256]`; `[]` for a scalar.
    public var description: String {
        "[" + dimensions.map(String.init).joined(separator: ", ") + "]"
    }
}
