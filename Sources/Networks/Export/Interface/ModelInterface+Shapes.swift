import RetintTensors

extension ModelInterface {
    /// The shapes that a value may have; for images NCHW.
    public struct Shapes: Hashable, Codable, Sendable {
        /// The shape unless another one is requested; nil for an extent that the model leaves open.
        public var standard: [Int?]
        /// The other shapes.
        public var flexibility: Flexibility

        /// Creates shapes; by default the standard one alone.
        public init(_ standard: [Int?], _ flexibility: Flexibility = .fixed) {
            (self.standard, self.flexibility) = (standard, flexibility)
        }
    }

    /// Which shapes a value may have beside the standard one.
    public enum Flexibility: Hashable, Codable, Sendable {
        /// None.
        case fixed
        /// One of these, the standard one among them.
        case enumerated(shapes: [[Int]])
        /// A range for each extent.
        case ranges(extents: [Extent])
    }

    /// The sizes that an axis may have.
    public struct Extent: Hashable, Codable, Sendable {
        /// The smallest.
        public var lower: Int
        /// The largest; nil for no bound.
        public var upper: Int?
        /// What all sizes are multiples of.
        public var multiple: Int

        /// Creates a range of sizes.
        public init(from lower: Int, to upper: Int?, multiple: Int = 1) {
            (self.lower, self.upper, self.multiple) = (lower, upper, multiple)
        }

        /// One size alone.
        public init(_ size: Int) { self.init(from: size, to: size) }

        /// All multiples of a number.
        public init(multiplesOf number: Int) {
            self.init(from: number, to: nil, multiple: number)
        }

        /// The only size; nil if there are several.
        public var only: Int? { lower == upper ? lower : nil }
    }
}

extension ModelInterface.Shapes {
    /// The standard shape; nil if the model leaves a part of it open.
    package var standardShape: Shape? {
        let known = standard.compactMap { $0 }
        return known.count == standard.count ? Shape(known) : nil
    }

    /// What the height and the width of an image, [N, C, H, W], must be multiples of; nil if they
    /// are not free.
    package var sideMultiple: Int? {
        guard case .ranges(let extents) = flexibility, extents.count == 4, extents[2].only == nil
        else { return nil }
        return extents[2].multiple
    }

    /// The axes of which the model takes several sizes, or leaves the size open.
    public var openAxes: [Int] { standard.indices.filter { only($0) == nil } }

    /// The size of an axis if the model takes no other; nil if it does, or leaves the size open.
    package func only(_ axis: Int) -> Int? {
        guard standard.indices.contains(axis) else { return nil }
        switch flexibility {
        case .fixed: return standard[axis]
        case .enumerated(let shapes):
            let sizes = Set(shapes.map { $0.indices.contains(axis) ? $0[axis] : nil })
            return sizes.count == 1 ? sizes.first ?? nil : nil
        case .ranges(let extents):
            return extents.indices.contains(axis) ? extents[axis].only : nil
        }
    }
}
