import RetintArchitectures
import RetintMIL
import RetintMLPackage

extension ExportOptions {
    /// An image size in pixels.
    public struct Size: Hashable, Sendable, CustomStringConvertible {
        /// The width in pixels.
        public var width: Int
        /// The height in pixels.
        public var height: Int

        /// Creates a size in pixels.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }

        /// Creates a square size in pixels.
        public init(_ side: Int) { self.init(width: side, height: side) }

        /// For example `320×240`.
        public var description: String { "\(width)×\(height)" }
    }

    /// The sizes that the model accepts in addition to its default size.
    public enum Flexibility: Hashable, Sendable {
        /// Only the default size.
        case fixed
        /// The default size and each of these.
        case enumerated([Size])
        /// All sizes in a range, ends included, that are multiples of the architecture's required
        /// multiple.
        case range(from: Size, to: Size)
    }

    /// The default size.
    package var size: Size { Size(width: width, height: height) }

    /// ``flexibility`` without the default size and duplicates; fixed if nothing else is left.
    package var flexibilityLeft: Flexibility {
        switch flexibility {
        case .fixed: return .fixed
        case .range(let from, let to): return from == to ? .fixed : flexibility
        case .enumerated(let sizes):
            var others: [Size] = []
            for other in sizes where other != size && !others.contains(other) {
                others.append(other)
            }
            return others.isEmpty ? .fixed : .enumerated(others)
        }
    }

    /// Sizes to lower a network for beside the default one, to find what depends on the size: the
    /// first differs from the default in each dimension that is flexible, the second from both, if
    /// there is one. Empty for a fixed size.
    ///
    /// - Parameter multiple: the step between sizes that the network takes, as far as is known;
    ///   sizes of the options come first.
    package func otherSizes(multiple: Int) -> [Size] {
        let stated: [Size] =
            switch flexibilityLeft {
            case .fixed: []
            case .enumerated(let sizes): sizes
            case .range(let from, let to):
                [
                    to, from, Size(width: to.width, height: from.height),
                    Size(width: from.width, height: to.height),
                ]
            }
        let varyingWidth = stated.contains { $0.width != width }
        let varyingHeight = stated.contains { $0.height != height }
        guard varyingWidth || varyingHeight else { return [] }
        let step = Size(
            width: width + (varyingWidth ? multiple : 0),
            height: height + (varyingHeight ? 2 * multiple : 0))
        let first = stated.first { other in
            (other.width != width) == varyingWidth && (other.height != height) == varyingHeight
        }
        let others = stated.filter { $0 != size && $0 != first }
        // Another ratio tells the height from the width.
        let second = others.first { !$0.isSimilar(to: size) } ?? others.first
        return [first ?? step] + (second.map { [$0] } ?? [])
    }
}

extension ExportOptions.Size {
    fileprivate func isSimilar(to other: Self) -> Bool {
        width * other.height == height * other.width
    }
}

extension ExportOptions.Size: ExpressibleByIntegerLiteral {
    /// Creates a square size in pixels.
    public init(integerLiteral side: Int) { self.init(side) }
}

/// Checks of the sizes of an export.
extension ExportOptions {
    /// The number of sizes that the format allows.
    private static let maximumSizeCount = 128
    /// The longest side in pixels.
    static let largestSide = 16_384

    /// - Parameter check: throws unless the network takes a size.
    func checkSizes(_ check: (Size) throws -> Void) throws {
        try check(size)
        switch flexibilityLeft {
        case .fixed: return
        case .enumerated(let sizes):
            for size in sizes { try check(size) }
            guard sizes.count >= Self.maximumSizeCount else { return }
            throw Self.refusal(
                "\(sizes.count + 1) sizes", "a model lists up to \(Self.maximumSizeCount)",
                "List fewer, or use a range.")
        case .range(let from, let to):
            for size in [from, to] { try check(size) }
            guard from.width <= width, width <= to.width, from.height <= height,
                height <= to.height
            else {
                throw Self.refusal(
                    "size \(size)", "it is outside the range from \(from) to \(to)",
                    "Choose a default size within the range.")
            }
        }
    }

    func check(_ size: Size, _ colorizer: any ColorizerNetwork) throws {
        if let only = colorizer.onlySize, size != Size(width: only.width, height: only.height) {
            let name = "\(Size(width: only.width, height: only.height))"
            throw Self.refusal(
                "size \(size)", "\(colorizer.architecture) takes only \(name)",
                "Choose \(name).")
        }
        let multiple = colorizer.requiredMultiple
        for (side, size) in [("height", size.height), ("width", size.width)]
        where size % multiple != 0 || !(multiple...Self.largestSide).contains(size) {
            let below = max(multiple, min(size, Self.largestSide) / multiple * multiple)
            throw Self.refusal(
                "\(side) \(size)",
                "\(colorizer.architecture) takes multiples of \(multiple) up to "
                    + "\(Self.largestSide)",
                "Choose for example \(below).")
        }
    }

    package static func refusal(_ place: String, _ rule: String, _ remedy: String)
        -> ConversionError
    {
        var error = ConversionError(place: place, rule: rule, remedy: remedy)
        error.kind = .option
        return error
    }
}
