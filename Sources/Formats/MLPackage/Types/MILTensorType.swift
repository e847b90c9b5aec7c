/// An element type with dimensions, nil where any size is allowed. A scalar has none.
package struct MILTensorType: Hashable, Sendable {
    package var dataType: MILDataType
    package var dimensions: [Int?]

    package init(_ dataType: MILDataType, _ dimensions: [Int?] = []) {
        self.dataType = dataType
        self.dimensions = dimensions
    }

    package var rank: Int { dimensions.count }

    /// The dimensions if all are known.
    package var shape: [Int]? {
        let known = dimensions.compactMap { $0 }
        return known.count == rank ? known : nil
    }

    /// The number of elements; nil if a dimension is unknown or the product too large.
    package var elementCount: Int? {
        guard let shape else { return nil }
        var count = 1
        for size in shape {
            // An extent of 0 does not make the others small.
            let (product, overflow) = count.multipliedReportingOverflow(by: max(size, 1))
            guard size >= 0, !overflow, product <= Self.maximumElements else { return nil }
            count = product
        }
        return shape.contains(0) ? 0 : count
    }

    /// The number of bytes that store the elements, rounded up for packed types; nil if unknown.
    package var byteCount: Int? {
        guard let count = elementCount, let bits = dataType.bitWidth else { return nil }
        return (count * bits + 7) / 8
    }

    /// More elements than fit in memory, but few enough that arithmetic on sizes cannot overflow.
    static let maximumElements = 1 << 44

    /// More dimensions than any operation supports.
    package static let maximumRank = 16
}

extension MILTensorType: CustomStringConvertible {
    package var description: String {
        "\(dataType)[" + dimensions.map { $0.map(String.init) ?? "?" }.joined(separator: ", ") + "]"
    }
}

/// A name with its type: an input of a program or an output of an operation.
package struct MILNamedType: Hashable, Sendable {
    package var name: String
    package var type: MILTensorType

    package init(_ name: String, _ type: MILTensorType) {
        self.name = name
        self.type = type
    }
}
