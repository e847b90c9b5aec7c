@testable import RetintMLPackage

/// A `constexpr_` operation with the values it takes; most of them fit each other.
struct CompressedWeights {
    let operation: MILOperation
    let shape: [Int]

    /// - Parameters:
    ///   - name: of the result.
    ///   - count: at most this many elements of a parameter.
    init(_ choices: inout Choices, name: String) {
        shape = (0..<choices.pick([4, 4, 4, 2, 1])).map { _ in choices.pick([1, 2, 3, 4, 8]) }
        var builder = ParameterBuilder(shape: shape, choices: choices)
        let type = builder.choices.pick(Self.types)
        let parameters = builder.parameters(of: type)
        choices = builder.choices
        let dataType: MILDataType = choices.isOne(in: 4) ? .float16 : .float32
        let asInputs = choices.bool()
        operation = MILOperation(
            type, inputs: asInputs ? parameters.mapValues { [.value($0)] } : [:],
            outputs: [MILNamedType(name, MILTensorType(dataType, shape))],
            attributes: asInputs ? [:] : parameters)
    }

    private static let types = [
        "constexpr_affine_dequantize", "constexpr_blockwise_shift_scale",
        "constexpr_lut_to_dense", "constexpr_sparse_to_dense", "constexpr_cast",
        "constexpr_sparse_blockwise_shift_scale", "constexpr_lut_to_sparse",
    ]
}

private struct ParameterBuilder {
    let shape: [Int]
    var choices: Choices

    private var count: Int { shape.reduce(1, *) }

    mutating func parameters(of type: String) -> [String: MILValue] {
        switch type {
        case "constexpr_affine_dequantize":
            [
                "quantized_data": packed(shape), "scale": floats([shape[0]]),
                "zero_point": packed([shape[0]]), "axis": .integer(choices.number()),
            ]
        case "constexpr_blockwise_shift_scale":
            ["data": packed(shape), "scale": floats(grouped), "offset": packed(grouped)]
        case "constexpr_lut_to_dense": tables()
        case "constexpr_sparse_to_dense":
            [
                "nonzero_data": floats([choices.below(count + 1)]), "mask": mask(),
                "shape": integers(shape),
            ]
        case "constexpr_cast":
            ["source_val": floats(shape), "output_dtype": .string("fp32")]
        case "constexpr_sparse_blockwise_shift_scale":
            [
                "data_mask": mask(), "nonzero_data": packed([choices.below(count + 1)]),
                "scale": floats(grouped), "offset": packed(grouped),
            ]
        default:
            [
                "indices_mask": mask(), "indices_nonzero_data": packed([choices.below(count + 1)]),
                "lut": floats(shape.map { _ in 1 } + [4, 1]),
            ]
        }
    }

    private mutating func tables() -> [String: MILValue] {
        let vector = choices.pick([1, 1, 2])
        var tables: [String: MILValue] = [
            "indices": packed(choices.bool() ? shape : [(count * 2 + 7) / 8]),
            "shape": integers(shape),
        ]
        tables["lut"] =
            choices.bool()
            ? floats([choices.pick([1, 2, 4, 16, 256])])
            : floats(grouped + [choices.pick([2, 4, 16]), vector])
        if vector > 1 { tables["vector_axis"] = .integer(choices.number()) }
        return tables
    }

    /// The shape of scales for blocks.
    private var grouped: [Int] { shape.enumerated().map { $0.offset == 0 ? $0.element : 1 } }

    private mutating func mask() -> MILValue {
        choices.bool()
            ? raw(.uint1, shape) : raw(.uint8, [(count + 7) / 8])
    }

    private mutating func packed(_ shape: [Int]) -> MILValue {
        raw(choices.pick([.int8, .uint8, .uint1, .uint2, .uint3, .uint4, .int4, .uint6]), shape)
    }

    private mutating func raw(_ type: MILDataType, _ shape: [Int]) -> MILValue {
        let type = MILTensorType(type, shape)
        let byte = choices.byte()
        let bytes = (0..<(type.byteCount ?? 0)).map { byte &* UInt8(truncatingIfNeeded: $0) }
        return MILValue(type: type, content: .bytes(bytes))
    }

    private mutating func floats(_ shape: [Int]) -> MILValue {
        let value = choices.float()
        let count = shape.reduce(1, *)
        return .floats(
            (0..<count).map { Float($0 % 7) * 0.25 - value }, shape: shape,
            as: choices.isOne(in: 4) ? .float16 : .float32)
    }

    /// The stated shape: rarely another one than that of the elements.
    private mutating func integers(_ shape: [Int]) -> MILValue {
        .integers(shape.map { choices.isOne(in: 16) ? choices.number() : Int32($0) })
    }
}
