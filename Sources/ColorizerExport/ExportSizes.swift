import Colorizers
import MIL
import MLPackage

extension ExportOptions {
    /// A picture's size in pixels.
    public struct Size: Hashable, Sendable, CustomStringConvertible {
        public var width: Int
        public var height: Int

        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }

        /// A square.
        public init(_ side: Int) { self.init(width: side, height: side) }

        public var description: String { "\(width)×\(height)" }
    }

    /// Which sizes the model takes beside its default one.
    public enum Flexibility: Hashable, Sendable {
        case fixed
        /// These as well.
        case enumerated([Size])
        /// All from the one size to the other, the multiples of what the architecture needs.
        case range(from: Size, to: Size)
    }

    /// The default size.
    var size: Size { Size(width: width, height: height) }

    /// What remains of ``flexibility`` without the default size itself.
    var flexibilityLeft: Flexibility {
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

    /// A size that differs from the default one wherever sizes may differ; nil for a fixed one.
    func otherSize(multiple: Int) -> Size? {
        let (varyingWidth, varyingHeight): (Bool, Bool)
        switch flexibilityLeft {
        case .fixed: return nil
        case .enumerated(let sizes):
            varyingWidth = sizes.contains { $0.width != width }
            varyingHeight = sizes.contains { $0.height != height }
        case .range(let from, let to):
            (varyingWidth, varyingHeight) = (from.width < to.width, from.height < to.height)
        }
        return Size(
            width: width + (varyingWidth ? multiple : 0),
            height: height + (varyingHeight ? 2 * multiple : 0))
    }
}

/// What the sizes of an export have to be.
extension ExportOptions {
    /// The format's own limit.
    private static let mostSizes = 128

    func checkSizes(_ colorizer: any ColorizerNetwork) throws {
        try check(size, colorizer)
        switch flexibilityLeft {
        case .fixed: return
        case .enumerated(let sizes):
            for size in sizes { try check(size, colorizer) }
            guard sizes.count >= Self.mostSizes else { return }
            throw Self.refusal(
                "\(sizes.count + 1) sizes", "a model lists up to \(Self.mostSizes)",
                "List fewer, or give a range.")
        case .range(let from, let to):
            for size in [from, to] { try check(size, colorizer) }
            guard from.width <= width, width <= to.width, from.height <= height,
                height <= to.height
            else {
                throw Self.refusal(
                    "size \(size)", "it lies outside the range from \(from) to \(to)",
                    "Choose a default size inside.")
            }
        }
    }

    private func check(_ size: Size, _ colorizer: any ColorizerNetwork) throws {
        let multiple = colorizer.requiredMultiple
        for (side, size) in [("height", size.height), ("width", size.width)]
        where size % multiple != 0 || !(multiple...16384).contains(size) {
            let below = max(multiple, min(size, 16384) / multiple * multiple)
            throw Self.refusal(
                "\(side) \(size)",
                "\(colorizer.architecture) takes multiples of \(multiple) up to 16384",
                "Choose for example \(below).")
        }
    }

    static func refusal(_ place: String, _ rule: String, _ remedy: String) -> ConversionError {
        var error = ConversionError(place: place, rule: rule, remedy: remedy)
        error.cause = .option
        return error
    }
}
