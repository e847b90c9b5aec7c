/// Which shapes a caller may give.
extension FeatureType {
    /// Whether an array of this shape, or a picture as [1, channels, height, width], may be given.
    package func allows(_ shape: [Int]) -> Bool {
        switch self {
        case .multiArray(let array): array.allows(shape)
        case .image(let image):
            shape.count == 4 && shape[0] == 1 && shape[1] == image.colorSpace.channels
                && image.allows(.init(width: shape[3], height: shape[2]))
        }
    }

    /// The default shape; empty if it is left open.
    package var defaultShape: [Int] {
        switch self {
        case .multiArray(let array): array.shape
        case .image(let image): [1, image.colorSpace.channels, image.height, image.width]
        }
    }

    /// Whether other shapes may be given than the default one.
    package var isFlexible: Bool {
        switch self {
        case .multiArray(let array): array.flexibility != .fixed
        case .image(let image): image.flexibility != .fixed
        }
    }

    /// The shapes that may be given, where they are listed.
    package var listedShapes: [[Int]]? {
        switch self {
        case .multiArray(let array):
            if case .enumerated(let shapes) = array.flexibility { return shapes }
        case .image(let image):
            if case .enumerated(let sizes) = image.flexibility {
                return sizes.map { [1, image.colorSpace.channels, $0.height, $0.width] }
            }
        }
        return nil
    }

    /// The smallest and the largest size of each axis; empty if it is fixed.
    package var sizeBounds: [SizeRange] {
        switch self {
        case .multiArray(let array): array.sizeBounds
        case .image(let image): image.sizeBounds
        }
    }

    /// The allowed shapes, for messages.
    package var allowedShapes: String {
        switch self {
        case .multiArray(let array): array.allowedShapes
        case .image(let image): image.allowedSizes
        }
    }
}

extension ArrayFeature {
    fileprivate func allows(_ shape: [Int]) -> Bool {
        switch flexibility {
        case .fixed: shape == self.shape
        case .enumerated(let shapes): shapes.contains(shape)
        case .ranges(let ranges):
            ranges.count == shape.count && zip(ranges, shape).allSatisfy { $0.contains($1) }
        }
    }

    fileprivate var sizeBounds: [SizeRange] {
        switch flexibility {
        case .fixed: []
        case .enumerated(let shapes):
            shape.indices.map { axis in
                SizeRange(spanning: shapes.map { $0.indices.contains(axis) ? $0[axis] : 0 })
            }
        case .ranges(let ranges): ranges
        }
    }

    fileprivate var allowedShapes: String {
        switch flexibility {
        case .fixed: "\(shape)"
        case .enumerated(let shapes): shapes.map { "\($0)" }.joined(separator: ", ")
        case .ranges(let ranges):
            "[" + ranges.map(\.description).joined(separator: ", ") + "]"
        }
    }
}

extension ImageFeature {
    fileprivate func allows(_ size: Size) -> Bool {
        switch flexibility {
        case .fixed: size == Size(width: width, height: height)
        case .enumerated(let sizes): sizes.contains(size)
        case .ranges(let widths, let heights):
            widths.contains(size.width) && heights.contains(size.height)
        }
    }

    fileprivate var sizeBounds: [SizeRange] {
        let lead = [SizeRange(1, 1), SizeRange(colorSpace.channels, colorSpace.channels)]
        switch flexibility {
        case .fixed: return []
        case .enumerated(let sizes):
            return lead + [
                SizeRange(spanning: sizes.map(\.height)), SizeRange(spanning: sizes.map(\.width)),
            ]
        case .ranges(let widths, let heights): return lead + [heights, widths]
        }
    }

    fileprivate var allowedSizes: String {
        switch flexibility {
        case .fixed: "\(width)×\(height)"
        case .enumerated(let sizes):
            sizes.map { "\($0.width)×\($0.height)" }.joined(separator: ", ")
        case .ranges(let widths, let heights): "\(widths) wide and \(heights) high"
        }
    }
}

extension SizeRange: CustomStringConvertible {
    fileprivate init(spanning sizes: [Int]) {
        self.init(sizes.min() ?? 0, sizes.max() ?? 0)
    }

    func contains(_ size: Int) -> Bool { size >= lower && size <= upper ?? .max }

    package var description: String {
        upper == lower ? "\(lower)" : "\(lower)…" + (upper.map(String.init) ?? "")
    }
}
