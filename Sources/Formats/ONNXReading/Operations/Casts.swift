import RetintGraph

/// Type casts. Values of the graph are floats: casting to a float type does nothing, and float16
/// does not round.
enum Casts: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Cast": OperationRule { node in
            let type = try type(of: "to", default: .float, node)
            return [try cast(try node.value(0), to: type, node)]
        },
        "CastLike": OperationRule { node in
            [try cast(try node.value(0), to: try node.value(1).type, node)]
        },
    ]

    /// The type that an attribute names.
    static func type(
        of attribute: String, default type: ONNXElementType, _ node: NodeContext
    ) throws -> ONNXElementType {
        let number = try node.integer(attribute, default: Int(type.rawValue))
        guard let type = Int32(exactly: number).flatMap(ONNXElementType.init(rawValue:)),
            type.isFloat || type == .bool || type.range != nil
        else {
            throw node.error("a cast to type \(number) is not supported")
        }
        return type
    }

    static func cast(
        _ value: ONNXValue, to type: ONNXElementType, _ node: NodeContext
    ) throws -> ONNXValue {
        switch value {
        case .host(let tensor):
            guard tensor.elements != nil else { return .tensor(try node.tensor(value), type) }
            try node.takeHost(tensor.dimensions)
            return .host(try cast(tensor, to: type, node))
        case .tensor(let x, let old):
            if type == .bool && old != .bool { return .tensor(1 - equal(x, x.scalar(0)), type) }
            return .tensor(old.isFloat && type.range != nil ? truncated(x) : x, type)
        }
    }

    private static func cast(
        _ tensor: ONNXTensor, to type: ONNXElementType, _ node: NodeContext
    ) throws -> ONNXTensor {
        if type.isFloat {
            return ONNXTensor(
                floats: tensor.floats ?? [], dimensions: tensor.dimensions, type: type)
        }
        let integers: [Int64]
        switch tensor.elements {
        case .float32(let values) where type == .bool: integers = values.map { $0 == 0 ? 0 : 1 }
        case .int64(let values) where type == .bool: integers = values.map { $0 == 0 ? 0 : 1 }
        case .float32(let values):
            integers = try values.map { value in
                guard let integer = Int64(exactly: value.rounded(.towardZero)),
                    type.range?.contains(integer) ?? true
                else { throw node.error("\(value) is not a valid \(type)") }
                return integer
            }
        case .int64(let values):
            if let value = values.first(where: { !(type.range?.contains($0) ?? true) }) {
                throw node.error("\(value) is not a valid \(type)")
            }
            integers = values
        case nil: integers = []
        }
        return ONNXTensor(type, tensor.dimensions, .int64(integers))
    }
}
