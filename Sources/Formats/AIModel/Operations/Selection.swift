import RetintMLPackage

/// Conversions of elements and choices between two tensors.
enum Selection: OperationFamily {
    private static let types: [String: MILDataType] = [
        "fp16": .float16, "fp32": .float32, "int32": .int32, "bool": .bool, "int8": .int8,
        "uint8": .uint8, "int16": .int16, "uint16": .uint16,
    ]
    private static let names = Dictionary(uniqueKeysWithValues: types.map { ($1, $0) })

    static let writers: [String: OperationWriter] = [
        "cast": { graph, operation in
            let x = try operation.value("x")
            let name = try operation.string("dtype", default: "")
            guard let type = types[name] else {
                throw NotWritable("a cast to \(name) has no counterpart")
            }
            return [try graph.cast(x, to: type)]
        },
        "select": { graph, operation in
            let values = try ["cond", "a", "b"].map { try operation.value($0) }
            let shape = operation.type.shape ?? []
            let operands = try values.map { try graph.broadcast($0, to: shape) }
            return [try graph.add("primitive.where_v1", operands, operation.type)]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.cast_v1": { graph, operation in
            let type = try operation.type().dataType
            guard let name = names[type] else {
                throw operation.error("a cast to \(type) is not supported")
            }
            return [
                try graph.add(
                    "cast", ["x": operation.operand(0), "dtype": .constant(.string(name))],
                    operation)
            ]
        },
        "primitive.where_v1": selection, "broadcasting_where_v1": selection,
    ]

    private static let selection: OperationReader = { graph, operation in
        [
            try graph.add(
                "select",
                [
                    "cond": operation.operand(0), "a": operation.operand(1),
                    "b": operation.operand(2),
                ], operation)
        ]
    }
}

extension GraphWriter {
    func cast(_ x: WrittenValue, to dataType: MILDataType) throws -> WrittenValue {
        guard x.dataType != dataType else { return x }
        return try add("primitive.cast_v1", [x], MILTensorType(dataType, x.shape))
    }
}
