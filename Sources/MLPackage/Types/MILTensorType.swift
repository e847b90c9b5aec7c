/// An element type with dimensions; a dimension is `nil` where any size goes. A scalar has none.
package struct MILTensorType: Hashable, Sendable {
    package var dataType: MILDataType
    package var dimensions: [Int?]

    package init(_ dataType: MILDataType, _ dimensions: [Int?] = []) {
        self.dataType = dataType
        self.dimensions = dimensions
    }

    package var rank: Int { dimensions.count }

    /// The dimensions where all are known.
    package var shape: [Int]? {
        let known = dimensions.compactMap { $0 }
        return known.count == rank ? known : nil
    }

    /// The number of elements; nothing where a dimension is unknown or the product is absurd.
    package var elementCount: Int? {
        guard let shape else { return nil }
        var count = 1
        for size in shape {
            let (product, overflow) = count.multipliedReportingOverflow(by: size)
            guard size >= 0, !overflow, product <= Self.maximumElements else { return nil }
            count = product
        }
        return count
    }

    /// The number of bytes when stored, packed types rounded up; nothing where it is not known.
    package var byteCount: Int? {
        guard let count = elementCount, let bits = dataType.bitWidth else { return nil }
        return (count * bits + 7) / 8
    }

    /// Far above any tensor that fits a machine, far below what makes arithmetic on sizes overflow.
    static let maximumElements = 1 << 44

    /// Far above any rank that an operation takes.
    static let maximumRank = 16
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
