import RetintGraph
import RetintTensorFiles
import RetintTensors

/// A tensor whose elements are known: an initializer, an attribute, or a value computed from those.
package struct ONNXTensor: Hashable, Sendable {
    package let type: ONNXElementType
    /// The extents; unlike those of a ``TensorGraph/Shape`` in a graph they may be 0.
    package let dimensions: [Int]
    /// The elements: floats of any width as float32, bools as 0 and 1; nil where they are kept
    /// elsewhere, as a checkpoint keeps its weights.
    package let elements: StoredTensor.Elements?

    /// - Precondition: the number of elements matches the shape.
    package init(
        _ type: ONNXElementType, _ dimensions: [Int], _ elements: StoredTensor.Elements?
    ) {
        precondition(elements.map { $0.count == dimensions.reduce(1, *) } ?? true)
        (self.type, self.dimensions, self.elements) = (type, dimensions, elements)
    }

    /// A vector of 64-bit integers, as shapes are.
    package init(integers: [Int]) {
        self.init(.int64, [integers.count], .int64(integers.map(Int64.init)))
    }

    package init(floats: [Float], dimensions: [Int], type: ONNXElementType = .float) {
        self.init(type, dimensions, .float32(floats))
    }

    package var count: Int { dimensions.reduce(1, *) }
    package var rank: Int { dimensions.count }
    package var shape: Shape { Shape(dimensions) }

    /// The elements of an integer or bool type; nil for others.
    package var integers: [Int]? {
        guard case .int64(let values) = elements else { return nil }
        return values.map { Int($0) }
    }

    /// The elements as floats, integers converted; nil if they are kept elsewhere.
    package var floats: [Float]? {
        switch elements {
        case .float32(let values): values
        case .int64(let values): values.map { Float($0) }
        case nil: nil
        }
    }

    /// Whether all elements are known and equal.
    package var isUniform: Bool {
        switch elements {
        case .float32(let values): values.allSatisfy { $0 == values[0] }
        case .int64(let values): values.allSatisfy { $0 == values[0] }
        case nil: false
        }
    }

    /// The same type and shape without elements.
    package var withoutElements: ONNXTensor { ONNXTensor(type, dimensions, nil) }

    package func reshaped(_ dimensions: [Int]) -> ONNXTensor {
        ONNXTensor(type, dimensions, elements)
    }

    /// The elements at `indices` of the row-major order under a new shape.
    package func gathered(_ indices: [Int], _ dimensions: [Int]) -> ONNXTensor {
        switch elements {
        case .float32(let values):
            ONNXTensor(type, dimensions, .float32(indices.map { values[$0] }))
        case .int64(let values):
            ONNXTensor(type, dimensions, .int64(indices.map { values[$0] }))
        case nil: ONNXTensor(type, dimensions, nil)
        }
    }
}

/// The number of elements of an untrusted shape. The other extents of an empty shape are also
/// bounded, which bounds its strides.
///
/// - Throws: ``ONNXError`` for a negative extent, too many axes, or more than `limit` elements.
package func checkedCount(
    _ dimensions: [Int64], at place: String, limit: Int = 1 << 32
) throws -> Int {
    guard dimensions.count <= Shape.maximumRank else {
        throw ONNXError(
            place: place, rule: "\(dimensions.count) axes are more than \(Shape.maximumRank)")
    }
    var count = 1
    for extent in dimensions {
        guard extent >= 0, extent <= Int64(limit) else {
            throw ONNXError(place: place, rule: "the extent \(extent) is out of range")
        }
        let (product, overflows) = count.multipliedReportingOverflow(by: Int(max(extent, 1)))
        guard !overflows, product <= limit else {
            throw ONNXError(
                place: place, rule: "shape \(dimensions) has more than \(limit) elements")
        }
        count = product
    }
    return dimensions.contains(0) ? 0 : count
}
