import RetintGraph
import RetintTensors

/// The NaN and infinite values of a tensor.
public struct NonFinite: Hashable, Sendable, Codable {
    /// The number of NaN and infinite values.
    public private(set) var count: Int
    /// The number of NaN values among them.
    public private(set) var nan: Int
    /// The position of the first one, an index for each dimension.
    public let first: [Int]

    /// Searches a tensor; nil if all its values are finite.
    public init?(in data: TensorData) {
        guard let offset = data.scalars.firstIndex(where: { !$0.isFinite }) else { return nil }
        count = data.scalars.count { !$0.isFinite }
        nan = data.scalars.count { $0.isNaN }
        first = zip(data.shape.strides, data.shape.dimensions).map { offset / $0 % $1 }
    }

    /// Adds the counts of another tensor; the first position stays.
    package mutating func add(_ other: NonFinite) {
        count += other.count
        nan += other.nan
    }

    /// The count and the first position, for error messages.
    public var text: String {
        let noun = count == 1 ? "value is" : "values are"
        return "\(count) \(noun) NaN or infinite, the first at \(first)"
    }
}
