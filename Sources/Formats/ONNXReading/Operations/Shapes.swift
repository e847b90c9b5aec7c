import RetintGraph
import RetintTensorFiles
import RetintTensors

/// Shapes, and reshaping.
enum Shapes: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Shape": OperationRule { node in
            let dimensions = try node.value(0).dimensions
            let rank = dimensions.count
            let bound = { (index: Int) in
                Swift.min(Swift.max(index < 0 ? index + rank : index, 0), rank)
            }
            let start = bound(try node.integer("start", default: 0))
            let end = bound(try node.integer("end", default: rank))
            return [.host(ONNXTensor(integers: Array(dimensions[start..<Swift.max(start, end)])))]
        },
        "Size": OperationRule { node in
            let count = try node.count(try node.value(0).dimensions)
            return [.host(ONNXTensor(integers: [count]).reshaped([]))]
        },
        "Reshape": OperationRule(reshape),
        "Flatten": OperationRule { node in
            let value = try node.value(0)
            let rank = value.dimensions.count
            let axis = try node.integer("axis", default: 1)
            guard (-rank...rank).contains(axis) else {
                throw node.error("axis \(axis) is out of range for rank \(rank)")
            }
            let split = axis < 0 ? axis + rank : axis
            let (lead, rest) = (value.dimensions[..<split], value.dimensions[split...])
            return [try reshaped(value, [lead.reduce(1, *), rest.reduce(1, *)], node)]
        },
        "Squeeze": OperationRule { node in
            let value = try node.value(0)
            let dimensions = value.dimensions
            let axes =
                try node.integers(1, or: "axes").map {
                    try node.axes($0, rank: dimensions.count)
                } ?? dimensions.indices.filter { dimensions[$0] == 1 }
            guard axes.allSatisfy({ dimensions[$0] == 1 }) else {
                throw node.error("axes \(axes) of \(dimensions) are not all 1", ONNXError.damaged)
            }
            let kept = dimensions.indices.filter { !axes.contains($0) }
            return [try reshaped(value, kept.map { dimensions[$0] }, node)]
        },
        "Unsqueeze": OperationRule { node in
            let value = try node.value(0)
            let given = try node.integers(1, or: "axes") ?? []
            let rank = value.dimensions.count + given.count
            guard rank <= Shape.maximumRank else {
                throw node.error("rank \(rank) is over \(Shape.maximumRank)")
            }
            var dimensions = value.dimensions
            for axis in try node.axes(given, rank: rank).sorted() { dimensions.insert(1, at: axis) }
            return [try reshaped(value, dimensions, node)]
        },
        "Transpose": OperationRule(transpose),
        "ConstantOfShape": OperationRule(filled),
        "Range": OperationRule(range),
    ]

    /// A value reshaped, with the same number of elements.
    static func reshaped(
        _ value: ONNXValue, _ dimensions: [Int], _ node: NodeContext
    ) throws -> ONNXValue {
        guard try node.count(dimensions) == node.count(value.dimensions) else {
            throw node.error(
                "\(value.dimensions) cannot take the shape \(dimensions)", ONNXError.damaged)
        }
        if case .host(let tensor) = value, tensor.elements != nil {
            return .host(tensor.reshaped(dimensions))
        }
        return .tensor(try node.tensor(value).reshaped(Shape(dimensions)), value.type)
    }

    /// 0 means the input's extent, −1 the remaining elements.
    @Sendable private static func reshape(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        var wanted = try node.integers(1, or: "shape") ?? []
        guard wanted.count <= Shape.maximumRank else {
            throw node.error("rank \(wanted.count) is over \(Shape.maximumRank)")
        }
        if try !node.flag("allowzero") {
            for index in wanted.indices where wanted[index] == 0 {
                guard index < value.dimensions.count else {
                    throw node.error("\(value.dimensions) has no axis \(index)", ONNXError.damaged)
                }
                wanted[index] = value.dimensions[index]
            }
        }
        if let free = wanted.firstIndex(of: -1) {
            wanted[free] = 1
            let known = try node.count(wanted)
            guard known > 0 else { throw node.error("shape \(wanted) leaves no size open") }
            wanted[free] = try node.count(value.dimensions) / known
        }
        return [try reshaped(value, wanted, node)]
    }

    @Sendable private static func transpose(_ node: NodeContext) throws -> [ONNXValue] {
        let value = try node.value(0)
        let rank = value.dimensions.count
        let order = try node.integers("perm") ?? Array((0..<rank).reversed())
        guard order.sorted() == Array(0..<rank) else {
            throw node.error("\(order.prefix(8)) does not order \(rank) axes", ONNXError.damaged)
        }
        guard case .host(let tensor) = value, tensor.elements != nil else {
            return [.tensor(try node.tensor(value).transposed(order), value.type)]
        }
        try node.takeHost(tensor.dimensions)
        return [.host(tensor.transposed(by: order))]
    }

    @Sendable private static func filled(_ node: NodeContext) throws -> [ONNXValue] {
        var one = ONNXTensor(floats: [0], dimensions: [])
        if case .tensor(let tensor) = node.node.attributes["value"] {
            guard tensor.count == 1 else { throw node.error("its value is not a single number") }
            one = tensor.reshaped([])
        }
        let dimensions = try node.integers(0)
        guard dimensions.allSatisfy({ $0 >= 0 }), dimensions.count <= Shape.maximumRank else {
            throw node.error("\(dimensions.prefix(8)) is not a shape", ONNXError.damaged)
        }
        return [try Joining.expanded(.host(one), to: dimensions, node)]
    }

    @Sendable private static func range(_ node: NodeContext) throws -> [ONNXValue] {
        let type = try node.constant(0).type
        guard type.isFloat else {
            let (start, limit, step) = (
                try node.integer(0), try node.integer(1), try node.integer(2)
            )
            let count = try count(Double(start), Double(limit), Double(step), node)
            let values = (0..<count).map { Int64(start &+ $0 &* step) }
            return [.host(ONNXTensor(type, [count], .int64(values)))]
        }
        let (start, limit, step) = (try node.number(0), try node.number(1), try node.number(2))
        let count = try count(Double(start), Double(limit), Double(step), node)
        let values = (0..<count).map { start + Float($0) * step }
        return [.host(ONNXTensor(floats: values, dimensions: [count], type: type))]
    }

    /// The number of elements of a range.
    private static func count(
        _ start: Double, _ limit: Double, _ step: Double, _ node: NodeContext
    ) throws -> Int {
        let size = Swift.max(0, ((limit - start) / step).rounded(.up))
        guard step != 0, size < 0x1p40 else {
            throw node.error("\(start) to \(limit) by \(step) is not a valid range")
        }
        try node.takeHost([Int(size)])
        return Int(size)
    }
}
