/// The extents of a tensor, outermost first: `[N, C, H, W]` for a batch of images.
///
/// A shape without dimensions is that of a scalar, which has one element.
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

    /// Throws if an extent is below 1, or there are more elements than an `Int` can count.
    func validate() throws(ShapeError) {
        var count = 1
        for extent in dimensions {
            try require(extent >= 1, "shape \(self) has no elements")
            let (product, overflows) = count.multipliedReportingOverflow(by: extent)
            try require(!overflows, "shape \(self) has too many elements")
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
