import TensorGraph

/// Changes of type. Values of the graph are floats: a float type is no change, and float16 is not
/// rounded to.
enum Casts: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Cast": OperationRule { node in
            let number = try node.integer("to", default: 1)
            guard let type = Int32(exactly: number).flatMap(ONNXElementType.init(rawValue:)),
                type.isFloat || type == .bool || type.range != nil
            else {
                throw node.error("a cast to type \(number) is not supported")
            }
            return [try cast(try node.value(0), to: type, node)]
        },
        "CastLike": OperationRule { node in
            [try cast(try node.value(0), to: try node.value(1).type, node)]
        },
    ]

    private static func cast(
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
        guard case .float32(let values) = tensor.elements else {
            let integers = (tensor.integers ?? []).map { value in
                type == .bool ? (value == 0 ? 0 : 1) : Int64(value)
            }
            return ONNXTensor(type, tensor.dimensions, .int64(integers))
        }
        let integers = try values.map { value -> Int64 in
            if type == .bool { return value == 0 ? 0 : 1 }
            guard let integer = Int64(exactly: value.rounded(.towardZero)) else {
                throw node.error("\(value) is no integer of 64 bits", ONNXError.damaged)
            }
            return integer
        }
        return ONNXTensor(type, tensor.dimensions, .int64(integers))
    }
}
