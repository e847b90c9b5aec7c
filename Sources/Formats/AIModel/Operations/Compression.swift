import RetintMIL
import RetintMLPackage

/// Weights that are unpacked while a model loads.
///
/// Sparse weights are written dense.
enum Compression: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "constexpr_lut_to_dense": { graph, operation in
            let table = try operation.stored("lut")
            guard table.type.rank == 1 else {
                let indices = try operation.stored("indices")
                return [
                    try graph.lookUp(
                        indices, table, try operation.vectorAxis(), operation.type)
                ]
            }
            let indices = try operation.packedIndices(table)
            return [try graph.lookUp(indices, table, 0, operation.type)]
        },
        "constexpr_affine_dequantize": { graph, operation in
            let data = try operation.stored("quantized_data")
            let parameters = try ["scale", "zero_point"].map { name in
                try operation.alongAxis(try operation.stored(name), of: data)
            }
            return [try graph.scaled(data, parameters[0], parameters[1], operation.type)]
        },
        "constexpr_blockwise_shift_scale": { graph, operation in
            [
                try graph.scaled(
                    try operation.stored("data"),
                    try operation.stored("scale"),
                    try operation.optionallyStored("offset"), operation.type)
            ]
        },
        "constexpr_cast": { graph, operation in
            let value = try graph.constant(try operation.stored("source_val"))
            return [try graph.cast(value, to: operation.type.dataType)]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.lut_to_dense_v1": { graph, operation in
            let (indices, table) = try (operation.constant(0), operation.constant(1))
            var inputs: [String: MILOperand] = [
                "indices": .inline(indices), "lut": .inline(table),
            ]
            if table.type.dimensions.last ?? 1 != 1 {
                inputs["vector_axis"] = .inline(.integer(try operation.integer(2)))
            }
            return [try graph.add("constexpr_lut_to_dense", inputs, operation)]
        },
        "primitive.blockwise_shift_scale_v2": { graph, operation in
            guard try operation.constant(3).floats().allSatisfy({ $0 == 0 }) else {
                throw operation.error("an offset after the scale is not supported")
            }
            return [
                try graph.add(
                    "constexpr_blockwise_shift_scale",
                    [
                        "data": .inline(try operation.constant(0)),
                        "scale": .inline(try operation.constant(1)),
                        "offset": .inline(try operation.constant(2)),
                    ], operation)
            ]
        },
    ]
}

extension WrittenOperation {
    fileprivate func vectorAxis() throws -> Int {
        let axis = try optionallyStored("vector_axis")?.integers().first ?? 0
        return try axes([Int(axis)], rank: type.rank)[0]
    }

    /// Indices before iOS18, packed into bytes with the number of bits that the table needs.
    fileprivate func packedIndices(_ table: MILValue) throws -> MILValue {
        let types: [Int: MILDataType] = [
            2: .uint1, 4: .uint2, 8: .uint3, 16: .uint4, 64: .uint6, 256: .uint8,
        ]
        guard let dataType = types[table.type.elementCount ?? 0] else {
            throw NotWritable("a table of type \(table.type) has no counterpart")
        }
        let bytes = try stored("indices").bytes()
        let value = MILTensorType(dataType, type.dimensions)
        guard bytes.count == value.byteCount else {
            throw NotWritable("\(bytes.count) bytes of indices do not fit \(value)")
        }
        return MILValue(type: value, content: .bytes(bytes))
    }

    /// A parameter with the rank of the weights: one value, or one for each index of an axis.
    fileprivate func alongAxis(_ value: MILValue, of data: MILValue) throws -> MILValue {
        let axis = Int(try stored("axis").integers().first ?? 0)
        var shape = [Int](repeating: 1, count: data.type.rank)
        shape[try axes([axis], rank: data.type.rank)[0]] = value.type.elementCount ?? 1
        var value = value
        value.type.dimensions = shape
        return value
    }
}

extension GraphWriter {
    /// Looks indices up in a table of one dimension, or in tables for blocks.
    fileprivate func lookUp(
        _ indices: MILValue, _ table: MILValue, _ axis: Int, _ type: MILTensorType
    ) throws -> WrittenValue {
        var table = table
        if table.type.rank == 1 {
            let ones = [Int](repeating: 1, count: indices.type.rank)
            table.type.dimensions = ones + [table.type.elementCount ?? 0, 1]
        }
        let number = MILValue(type: MILTensorType(.int16), content: .integers([Int32(axis)]))
        return try add(
            "primitive.lut_to_dense_v1",
            [try constant(indices), try constant(table), try constant(number)], type)
    }

    /// scale · (data − offset), with a scale and an offset for each block.
    fileprivate func scaled(
        _ data: MILValue, _ scale: MILValue, _ offset: MILValue?, _ type: MILTensorType
    ) throws -> WrittenValue {
        let shape = scale.type.shape ?? []
        let count = scale.type.elementCount ?? 0
        let zeros = [Int32](repeating: 0, count: count)
        let offset = try offset.map {
            MILValue.packed(try $0.integers(), shape: shape, as: data.type.dataType)
        }
        let none = MILValue.packed(zeros, shape: shape, as: data.type.dataType)
        let shift = MILValue.floats(
            [Float](repeating: 0, count: count), shape: shape, as: type.dataType)
        return try add(
            "primitive.blockwise_shift_scale_v2",
            [
                try constant(data), try constant(scale), try constant(offset ?? none),
                try constant(shift),
            ], type)
    }
}
