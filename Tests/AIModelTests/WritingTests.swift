import Foundation
import RetintAIModel
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// What is written, and what is refused.
@Suite struct WritingTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private static let image = MILTensorType(.float32, [1, 4, 5, 6])

    /// x, one operation of it, and an output of the same type.
    private func example(
        _ type: String = "relu", _ input: MILTensorType = image,
        parameters: [String: MILOperand] = [:]
    ) throws -> MLPackage {
        var builder = MILProgramBuilder()
        let x = builder.input("x", input)
        let inputs = parameters.merging(["x": .name(x)]) { $1 }
        let y = builder.operation(type, inputs, name: "y", type: input)
        try builder.output(y, as: "y")
        return try package(builder.program, .iOS18)
    }

    @Test func equalPackagesGiveEqualFiles() throws {
        let (first, second) = (scratch.path("first.aimodel"), scratch.path("second.aimodel"))
        try example().writeAIModel(to: first, producer: "test 1")
        try example().writeAIModel(to: second, producer: "test 1")
        let files = try contents(ofFolder: first)
        #expect(files.keys.sorted() == ["main.hash", "main.mlirb", "metadata.json"])
        #expect(try contents(ofFolder: second) == files)
        let program = try #require(files["main.mlirb"])
        #expect(program.starts(with: Array("ML\u{EF}R".unicodeScalars.map { UInt8($0.value) })))
        #expect(program.firstRange(of: Data(scratch.path.utf8)) == nil)
        #expect(program.firstRange(of: Data("test 1\0".utf8)) != nil)
    }

    @Test func metadataIsKept() throws {
        var package = try example()
        package.metadata.author = "An \"author\""
        package.metadata.license = "MIT"
        package.metadata.shortDescription = "Colors"
        package.metadata.version = "7"
        package.metadata.userDefined = ["key": "value", NodeRecord.key: "y=relu"]
        let path = scratch.path("metadata.aimodel")
        try package.writeAIModel(to: path)
        let read = try MLPackage(contentsOfAIModel: path).metadata
        package.metadata.userDefined[NodeRecord.key] = nil
        #expect(read == package.metadata)
    }

    @Test func onlyAnotherModelIsReplaced() throws {
        let path = scratch.path("model.aimodel")
        try example().writeAIModel(to: path)
        try example("tanh").writeAIModel(to: path)
        #expect(try MLPackage(contentsOfAIModel: path).program.operations.map(\.type) == ["tanh"])
        try Data().write(to: URL(filePath: path + "/photo.jpg"))
        let error = #expect(throws: MLPackageError.self) { try example().writeAIModel(to: path) }
        #expect(error?.description.contains("photo.jpg") == true)
    }

    @Test func whatHasNoCounterpartIsRefused() throws {
        var pixels = try example("relu", MILTensorType(.float32, [1, 1, 5, 6]))
        pixels.description.inputs[0].type = .image(
            ImageFeature(width: 6, height: 5, colorSpace: .grayscale))
        var flexible = try example("relu", MILTensorType(.float32, [1, nil, 5, 6]))
        flexible.description.inputs[0].type = .multiArray(
            ArrayFeature(
                .float32, [1, 4, 5, 6],
                .ranges(
                    [1...1, 2...4, 5...5, 6...6].map { SizeRange($0.lowerBound, $0.upperBound) })
            ))
        let refused = try [
            (example("cumsum"), "operation 0 (cumsum, \"y\"): the operation cumsum has no"),
            (flexible, "sizes that vary are not written"),
            (pixels, "an .aimodel cannot take this image"),
            (
                example(
                    "pixel_shuffle", MILTensorType(.float32, [4, 5, 6]),
                    parameters: ["upscale_factor": .constant(.integer(2))]),
                "only two spatial dimensions are written"
            ),
            (
                example(
                    "pixel_unshuffle", parameters: ["downscale_factor": .constant(.integer(4))]),
                "cannot be cut into 4×4 pixels"
            ),
        ]
        for (package, rule) in refused {
            let path = scratch.path("refused.aimodel")
            let error = #expect(throws: ConversionError.self) {
                try package.writeAIModel(to: path)
            }
            let text = error?.description ?? ""
            #expect(text.contains("refused.aimodel: ") && text.contains(rule), "\(text)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}

/// Compressed weights unpack to the same values before and after.
@Suite struct CompressionTests {
    private static let shape = [6, 4, 1, 1]
    private static let codes = (0..<24).map { Int32($0 * 7 % 16) }
    private static let shapeValue = MILValue.uint32(shape.map { UInt32($0) })

    private static func floats(_ shape: [Int]) -> MILValue {
        let values = numbers(Shape(shape), seed: 3).scalars
        return .floats(values, shape: shape)
    }

    /// Parameters as attributes, before iOS18.
    static let attributes: [(String, [String: MILValue])] = [
        (
            "constexpr_lut_to_dense",
            [
                "indices": .uint8(BitPacking.pack(codes, bits: 4)), "lut": floats([16]),
                "shape": shapeValue,
            ]
        ),
        (
            "constexpr_lut_to_dense",
            [
                "indices": .uint8(BitPacking.pack(codes.map { $0 * 3 }, bits: 6)),
                "lut": floats([64]), "shape": shapeValue,
            ]
        ),
        (
            "constexpr_affine_dequantize",
            [
                "quantized_data": .int8(codes.map { Int8($0 - 9) }, shape: shape),
                "zero_point": .int8([1, -2, 3, 0, 5, -6]), "scale": floats([6]),
                "axis": .integer(0),
            ]
        ),
        (
            "constexpr_affine_dequantize",
            [
                "quantized_data": .uint8(codes.map { UInt8($0) }, shape: shape),
                "zero_point": .uint8([7], shape: []), "scale": .float(0.25), "axis": .integer(1),
            ]
        ),
        (
            "constexpr_cast",
            [
                "source_val": .floats(
                    numbers(Shape(shape)).scalars, shape: shape, as: .float16),
                "output_dtype": .string("fp32"),
            ]
        ),
        (
            "constexpr_sparse_to_dense",
            [
                "nonzero_data": floats([12]), "shape": shapeValue,
                "mask": .uint8([0b0101_0101, 0b1111_0000, 0b0000_1111]),
            ]
        ),
    ]

    /// Parameters as inputs, from iOS18 on.
    static let inputs: [(String, [String: MILValue])] = [
        (
            "constexpr_lut_to_dense",
            [
                "indices": .packed(codes, shape: shape, as: .uint4),
                "lut": floats([3, 1, 1, 1, 16, 1]),
            ]
        ),
        (
            "constexpr_blockwise_shift_scale",
            [
                "data": .packed(codes.map { $0 - 8 }, shape: shape, as: .int4),
                "scale": floats([6, 2, 1, 1]),
            ]
        ),
        (
            "constexpr_blockwise_shift_scale",
            [
                "data": .packed(codes, shape: shape, as: .uint8), "scale": floats([6, 1, 1, 1]),
                "offset": .packed([1, 2, 3, 4, 5, 6], shape: [6, 1, 1, 1], as: .uint8),
            ]
        ),
    ]

    private func check(_ program: MILProgram) throws {
        let original = try package(program, .iOS18)
        let scratch = try TemporaryFolder()
        try original.writeAIModel(to: scratch.path("weights.aimodel"))
        let again = try MLPackage(contentsOfAIModel: scratch.path("weights.aimodel"))
        let feed = ["x": numbers([1, 4, 3, 3])]
        let expected = try #require(try raise(original).run(feed)["y"])
        #expect(try distance(raise(again).run(feed)["y"], expected) <= 1e-6)
    }

    private func program(_ weights: (inout MILProgramBuilder) -> String) throws -> MILProgram {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float32, [1, 4, 3, 3]))
        let weight = weights(&builder)
        let y = builder.operation(
            "conv",
            [
                "x": .name(x), "weight": .name(weight), "strides": .integers([1, 1]),
                "dilations": .integers([1, 1]), "groups": .constant(.integer(1)),
                "pad_type": .constant(.string("valid")),
            ], name: "y", type: MILTensorType(.float32, [1, 6, 3, 3]))
        try builder.output(y, as: "y")
        return builder.program
    }

    @Test(arguments: attributes.indices) func attributesAreWritten(index: Int) throws {
        let (type, values) = Self.attributes[index]
        try check(
            program {
                $0.operation(
                    type, attributes: values, name: "w", type: MILTensorType(.float32, Self.shape))
            })
    }

    @Test(arguments: inputs.indices) func inputsAreWritten(index: Int) throws {
        let (type, values) = Self.inputs[index]
        try check(
            program {
                $0.operation(
                    type, values.mapValues { .inline($0) }, name: "w",
                    type: MILTensorType(.float32, Self.shape))
            })
    }
}
