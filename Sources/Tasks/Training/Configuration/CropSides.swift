/// Sides of crops in pixels: `128 160`.
public struct CropSides: Hashable, Sendable {
    /// The sides, in their order.
    public let sides: [Int]

    /// The allowed sides of crops.
    static let range = 32...2048
    /// The network is compiled for each side, which takes memory.
    private static let maximumCount = 8

    /// - Returns: nil for no sides, too many sides, or sides that are not allowed.
    public init?(_ sides: [Int]) {
        guard 1...Self.maximumCount ~= sides.count, sides.allSatisfy(Self.range.contains) else {
            return nil
        }
        self.sides = sides
    }
}

extension CropSides: ConfigurationValue {
    static var wanted: String {
        "1 to \(maximumCount) whole numbers from \(range.lowerBound) to \(range.upperBound), "
            + "separated by spaces"
    }

    init?(configurationText text: String) {
        let numbers = text.split(separator: " ").map { Int($0) }
        guard numbers.allSatisfy({ $0 != nil }) else { return nil }
        self.init(numbers.compactMap(\.self))
    }

    var configurationText: String {
        sides.map(String.init).joined(separator: " ").configurationText
    }
}
