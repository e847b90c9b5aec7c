import TensorGraph

/// An input or an output with its value.
package struct NamedTensor: Hashable, Sendable {
    package let name: String
    package let data: TensorData

    package init(_ name: String, _ data: TensorData) {
        self.name = name
        self.data = data
    }

    /// The name and the shape, as error messages have them.
    var summary: String { "\(name) \(data.shape)" }
}

extension [NamedTensor] {
    var summary: String { isEmpty ? "nothing" : map(\.summary).joined(separator: ", ") }
}

/// The numbers of a tensor that are infinite or none at all.
package struct NonFinite: Hashable, Sendable, Encodable {
    package let count: Int
    /// Where the first one stands, an index for each dimension.
    package let first: [Int]

    /// Nil if all numbers are finite.
    package init?(in data: TensorData) {
        guard let place = data.scalars.firstIndex(where: { !$0.isFinite }) else { return nil }
        count = data.scalars.count { !$0.isFinite }
        first = zip(data.shape.strides, data.shape.dimensions).map { place / $0 % $1 }
    }

    var text: String {
        let noun = count == 1 ? "number is" : "numbers are"
        return "\(count) \(noun) NaN or infinite, the first at \(first)"
    }
}
