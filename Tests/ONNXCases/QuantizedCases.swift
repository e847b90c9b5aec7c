import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors

extension ProgramCase {
    /// 8-bit values between operations, with one grid or one for each channel.
    static let activations: [ProgramCase] = [
        quantized(nil, "int8"), quantized(nil, "uint8"), quantized(1, "int8"),
    ]

    private static func quantized(_ axis: Int?, _ word: String) -> ProgramCase {
        let dataType: MILDataType = word == "int8" ? .int8 : .uint8
        let count = axis == nil ? 1 : 4
        let scales = (0..<count).map { Float($0 + 1) / 256 }
        let zeros = (0..<count).map { Int32($0) + (word == "int8" ? -2 : 130) }
        let shape = axis == nil ? [] : [count]
        return ProgramCase(
            "quantize \(word)\(axis == nil ? "" : " by channel")", numbers(Shape(Self.shape))
        ) { builder in
            var grid: [String: MILOperand] = [
                "scale": .constant(.floats(scales, shape: shape)),
                "zero_point": .constant(.packed(zeros, shape: shape, as: dataType)),
            ]
            grid["axis"] = axis.map { integer(Int32($0)) }
            let codes = builder.operation(
                "quantize",
                grid.merging(["input": .name("x"), "output_dtype": string(word)]) { $1 },
                name: "codes", type: MILTensorType(dataType, Self.shape))
            return builder.operation(
                "dequantize", grid.merging(["input": .name(codes)]) { $1 }, name: "r",
                type: MILTensorType(.float32, Self.shape))
        }
    }

    private static let weightShape = [4, 8, 3, 3]

    /// x times a compressed weight, as a convolution.
    private static func weight(
        _ name: String, _ type: String, attributes: [String: MILValue] = [:],
        inputs: [String: MILValue] = [:]
    ) -> ProgramCase {
        ProgramCase(name, numbers([1, 8, 5, 4])) { builder in
            let form = MILTensorType(.float32, weightShape)
            let weight =
                attributes.isEmpty
                ? builder.operation(
                    type, inputs.mapValues { .inline($0) }, name: "w", type: form)
                : builder.operation(type, attributes: attributes, name: "w", type: form)
            return builder.operation(
                "conv", ["x": .name("x"), "weight": .name(weight)], name: "r",
                type: MILTensorType(.float32, [1, 4, 3, 2]))
        }
    }

    private static func codes(_ bits: Int32, _ dataType: MILDataType) -> MILValue {
        let low: Int32 = dataType.isSigned ? 1 << (bits - 1) : 0
        let values = (0..<288).map { Int32($0) * 37 % (1 << bits) - low }
        return .packed(values, shape: weightShape, as: dataType)
    }

    private static func values(_ shape: [Int]) -> MILValue {
        .floats(numbers(Shape(shape), positive: true).scalars, shape: shape)
    }

    static let weights: [ProgramCase] = [
        weight(
            "affine of one scale", "constexpr_affine_dequantize",
            attributes: [
                "quantized_data": codes(8, .uint8), "scale": .float(0.01),
                "zero_point": .uint8([120], shape: []), "axis": .integer(0),
            ]),
        weight(
            "affine of scales", "constexpr_affine_dequantize",
            attributes: [
                "quantized_data": codes(8, .int8), "scale": values([4]),
                "zero_point": .int8([3], shape: []), "axis": .integer(0),
            ]),
        weight(
            "shift_scale by tensor", "constexpr_blockwise_shift_scale",
            inputs: ["data": codes(8, .int8), "scale": values([1, 1, 1, 1])]),
        weight(
            "shift_scale by channel", "constexpr_blockwise_shift_scale",
            inputs: [
                "data": codes(8, .int8), "scale": values([1, 8, 1, 1]),
                "offset": .int8([1, 2, 3, 4, -5, 6, 7, -8], shape: [1, 8, 1, 1]),
            ]),
        weight(
            "shift_scale of int4", "constexpr_blockwise_shift_scale",
            inputs: ["data": codes(4, .int4), "scale": values([4, 1, 1, 1])]),
        weight(
            "shift_scale by block", "constexpr_blockwise_shift_scale",
            inputs: [
                "data": codes(4, .uint4), "scale": values([4, 2, 1, 1]),
                "offset": .packed([1, 2, 3, 4, 5, 6, 7, 8], shape: [4, 2, 1, 1], as: .uint4),
            ]),
        weight(
            "shift_scale by outer block", "constexpr_blockwise_shift_scale",
            inputs: [
                "data": codes(4, .int4), "scale": values([2, 8, 1, 1]),
                "offset": .packed((0..<16).map { $0 - 8 }, shape: [2, 8, 1, 1], as: .int4),
            ]),
        weight(
            "palette before iOS18", "constexpr_lut_to_dense",
            attributes: [
                "indices": .uint8(
                    BitPacking.pack((0..<288).map { Int32($0 % 61) }, bits: 6)),
                "lut": values([64]), "shape": .uint32([4, 8, 3, 3]),
            ]),
        weight(
            "palette of 4 bits", "constexpr_lut_to_dense",
            inputs: ["indices": codes(4, .uint4), "lut": values([1, 1, 1, 1, 16, 1])]),
        weight(
            "palette of 3 bits", "constexpr_lut_to_dense",
            inputs: ["indices": codes(3, .uint3), "lut": values([1, 1, 1, 1, 8, 1])]),
        weight(
            "palettes by group", "constexpr_lut_to_dense",
            inputs: ["indices": codes(4, .uint4), "lut": values([2, 1, 1, 1, 16, 1])]),
        weight(
            "palettes by inner group", "constexpr_lut_to_dense",
            inputs: ["indices": codes(2, .uint2), "lut": values([1, 2, 1, 1, 4, 1])]),
        weight(
            "sparse", "constexpr_sparse_to_dense",
            inputs: [
                "nonzero_data": values([144]),
                "mask": .packed((0..<288).map { $0 % 2 }, shape: weightShape, as: .uint1),
            ]),
        weight(
            "float16 of a float32 convolution", "constexpr_cast",
            inputs: [
                "source_val": .floats(
                    numbers(Shape(weightShape)).scalars, shape: weightShape, as: .float16),
                "output_dtype": .string("fp32"),
            ]),
    ]

    /// All cases.
    package static let all: [ProgramCase] = [
        elementwise, binary, logic, reductions, layouts, slices, resizings, pools, convolutions,
        matrices, normalizations, activations, weights,
    ].flatMap { $0 }
}
