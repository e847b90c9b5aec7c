import Foundation
import RetintGraph
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintMIL

/// Compressed weights, as written and decompressed by coremltools. `Goldens/record_constexpr.py`
/// records both.
@Suite struct ConstexprTests {
    @Test(arguments: [("constexpr-iOS16", 11), ("constexpr-iOS18", 15)])
    func equalsCoremltools(name: String, count: Int) throws {
        let recorded: [String: [String: [Float]]] = try decodeGolden("constexpr.json")
        let expected = try #require(recorded[name])
        #expect(expected.count == count)
        let path = goldenPath("\(name).mlpackage")
        let zero = TensorData(shape: [1], scalars: [0])
        let found = try raise(try MLPackage(contentsOf: path)).run(["single": zero, "half": zero])
        for (form, numbers) in expected {
            #expect(found[form]?.scalars == numbers, "\(form)")
        }
    }

    /// A malformed operation and a fragment of the expected error.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let words: String
        let type: String
        let parameters: [String: MILValue]
        var output = MILTensorType(.float32, [4, 2])
        var isEarly = false

        init(
            _ words: String, _ type: String, _ parameters: [String: MILValue],
            output: MILTensorType = MILTensorType(.float32, [4, 2]), isEarly: Bool = false
        ) {
            self.words = words
            self.type = type
            self.parameters = parameters
            self.output = output
            self.isEarly = isEarly
        }

        var testDescription: String { "\(type): \(words)" }
    }

    private static let codes = MILValue.int8([Int8](repeating: 1, count: 8), shape: [4, 2])
    private static func floats(_ shape: [Int]) -> MILValue {
        .floats([Float](repeating: 1, count: shape.reduce(1, *)), shape: shape)
    }
    private static func bits(_ shape: [Int], _ value: Int32 = 1) -> MILValue {
        .packed([Int32](repeating: value, count: shape.reduce(1, *)), shape: shape, as: .uint1)
    }
    private static let shape = MILValue.uint32([4, 2])

    static let refusals: [Refusal] = [
        Refusal("constexpr_unheard_of", "constexpr_unheard_of", [:]),
        Refusal(
            "do not fit axis 0", "constexpr_affine_dequantize",
            [
                "quantized_data": codes, "scale": floats([3]), "zero_point": .int8([0], shape: []),
                "axis": .integer(0),
            ], isEarly: true),
        Refusal(
            "axis 2 is out of range", "constexpr_affine_dequantize",
            [
                "quantized_data": codes, "scale": floats([]), "zero_point": .int8([0], shape: []),
                "axis": .integer(2),
            ], isEarly: true),
        Refusal(
            "its parameter zero_point is missing", "constexpr_affine_dequantize",
            ["quantized_data": codes, "scale": floats([]), "axis": .integer(0)], isEarly: true),
        Refusal(
            "bytes of indices do not fit", "constexpr_lut_to_dense",
            ["indices": .uint8([0]), "lut": floats([4]), "shape": shape], isEarly: true),
        Refusal(
            "a table of 3 values", "constexpr_lut_to_dense",
            ["indices": .uint8([0, 0]), "lut": floats([3]), "shape": shape], isEarly: true),
        Refusal(
            "out of range", "constexpr_lut_to_dense",
            [
                "indices": .uint8([0, 0]), "lut": floats([4]),
                "shape": .uint32([1 << 30, 1 << 30]),
            ], isEarly: true),
        Refusal(
            "does not fit 8 elements", "constexpr_sparse_to_dense",
            ["nonzero_data": floats([8]), "mask": .uint8([255, 0]), "shape": shape], isEarly: true),
        Refusal(
            "does not fit 3 nonzero elements", "constexpr_sparse_to_dense",
            ["nonzero_data": floats([3]), "mask": bits([4, 2])]),
        Refusal(
            "are not integers", "constexpr_blockwise_shift_scale",
            [
                "data": .floats([Float](repeating: .nan, count: 8), shape: [4, 2]),
                "scale": .int8([1], shape: [1, 1]),
            ], output: MILTensorType(.int8, [4, 2])),
        Refusal(
            "do not divide the shape", "constexpr_blockwise_shift_scale",
            ["data": codes, "scale": floats([3, 1])]),
        Refusal(
            "do not fit scales", "constexpr_blockwise_shift_scale",
            ["data": codes, "scale": floats([4, 1]), "offset": floats([1, 1])]),
        Refusal(
            "is declared as fp16", "constexpr_blockwise_shift_scale",
            ["data": codes, "scale": floats([4, 1])], output: MILTensorType(.float16, [4, 2])),
        Refusal(
            "is declared as fp32[2, 4]", "constexpr_blockwise_shift_scale",
            ["data": codes, "scale": floats([4, 1])], output: MILTensorType(.float32, [2, 4])),
        Refusal(
            "a table of shape", "constexpr_lut_to_dense",
            ["indices": bits([4, 2]), "lut": floats([1, 2, 1])]),
        Refusal(
            "need one vector_axis", "constexpr_lut_to_dense",
            ["indices": bits([4, 2]), "lut": floats([1, 1, 2, 2])]),
        Refusal(
            "axis 7 is out of range", "constexpr_lut_to_dense",
            [
                "indices": bits([4, 2]), "lut": floats([1, 1, 2, 2]),
                "vector_axis": .integer(7),
            ]),
        Refusal(
            "become 33554432 elements", "constexpr_lut_to_dense",
            [
                "indices": bits([1 << 15, 1]),
                "lut": floats([1, 1, 2, 1 << 10]), "vector_axis": .integer(1),
            ]),
        Refusal(
            "do not fit a table of 1", "constexpr_lut_to_dense",
            ["indices": bits([4, 2]), "lut": floats([1, 1, 1, 1])]),
        Refusal(
            "indices of type fp32", "constexpr_lut_to_dense",
            ["indices": floats([4, 2]), "lut": floats([1, 1, 2, 1])]),
        Refusal(
            "2 are expected", "constexpr_lut_to_sparse",
            [
                "indices_mask": bits([4, 2]), "indices_nonzero_data": bits([8]),
                "lut": floats([1, 1, 2, 1]),
            ]),
        Refusal(
            "does not fit 7 nonzero elements", "constexpr_sparse_blockwise_shift_scale",
            ["data_mask": bits([4, 2]), "nonzero_data": bits([7]), "scale": floats([4, 1])]),
        Refusal(
            "a cast of fp32", "constexpr_cast",
            ["source_val": floats([4, 2]), "output_dtype": .string("fp32")]),
        Refusal(
            "a cast to", "constexpr_cast",
            ["source_val": floats([4, 2]), "output_dtype": .string("fp16")]),
    ]

    @Test(arguments: refusals)
    func refuses(_ refusal: Refusal) throws {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float32, [4, 2]))
        let weight: String
        if refusal.isEarly {
            weight = builder.operation(
                refusal.type, attributes: refusal.parameters, name: "w", type: refusal.output)
        } else {
            weight = builder.operation(
                refusal.type, refusal.parameters.mapValues { .inline($0) }, name: "w",
                type: refusal.output)
        }
        let y = builder.operation(
            "add", ["x": .name(x), "y": .name(weight)], name: "y",
            type: MILTensorType(.float32, [4, 2]))
        try builder.output(y, as: "y")
        let program = builder.program
        let error = try #require(throws: ConversionError.self) {
            _ = try raise(try package(program, .iOS18))
        }
        #expect(error.description.contains(refusal.words), "\(error)")
        #expect(error.place.contains("(\(refusal.type), \"w\")"))
    }
}
