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

    /// Pictures in batches of the size that a model takes; what cannot be cut stays whole.
    func batches(of size: Int?) -> [[NamedTensor]] {
        guard let size, size > 0, count == 1, self[0].data.shape.rank == 4,
            self[0].data.shape[0] > size, self[0].data.shape[0].isMultiple(of: size)
        else { return [self] }
        return stride(from: 0, to: self[0].data.shape[0], by: size).map { start in
            [NamedTensor(self[0].name, self[0].data.pictures(from: start, count: size))]
        }
    }
}

/// One batch of what several runs gave.
func joined(_ runs: [[NamedTensor]]) -> [NamedTensor] {
    guard runs.count > 1 else { return runs.first ?? [] }
    return runs[0].indices.map { place in
        let parts = runs.map { $0[place].data }
        var shape = parts[0].shape
        if shape.rank > 0 { shape[0] *= parts.count }
        let scalars = parts.flatMap(\.scalars)
        return NamedTensor(runs[0][place].name, TensorData(shape: shape, scalars: scalars))
    }
}

extension TensorData {
    /// `count` pictures of a batch from `start` on.
    ///
    /// - Precondition: the batch has them.
    func pictures(from start: Int, count: Int) -> TensorData {
        let size = shape.count / shape[0]
        var part = shape
        part[0] = count
        return TensorData(
            shape: part, scalars: Array(scalars[start * size..<(start + count) * size]))
    }
}

/// The numbers of a tensor that are infinite or none at all.
package struct NonFinite: Hashable, Sendable, Encodable {
    package private(set) var count: Int
    /// How many of them are NaN.
    package private(set) var nan: Int
    /// Where the first one stands, an index for each dimension.
    package let first: [Int]

    /// Nil if all numbers are finite.
    package init?(in data: TensorData) {
        guard let place = data.scalars.firstIndex(where: { !$0.isFinite }) else { return nil }
        count = data.scalars.count { !$0.isFinite }
        nan = data.scalars.count { $0.isNaN }
        first = zip(data.shape.strides, data.shape.dimensions).map { place / $0 % $1 }
    }

    /// Counts those of another tensor too; the first one stays.
    mutating func add(_ other: NonFinite) {
        count += other.count
        nan += other.nan
    }

    package var text: String {
        let noun = count == 1 ? "number is" : "numbers are"
        return "\(count) \(noun) NaN or infinite, the first at \(first)"
    }
}
