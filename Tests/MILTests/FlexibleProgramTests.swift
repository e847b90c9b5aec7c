import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

/// Programs for flexible sizes: shapes that are computed from those of earlier values.
@Suite struct FlexibleProgramTests {
    /// A network that depends on the size of its input x, [1, 8, H, W].
    struct Network: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// An operation that the program for flexible sizes has.
        let operation: String
        let build: @Sendable (Tensor) -> Tensor
    }

    private static func groupNorm(_ x: Tensor) -> Tensor {
        let groups = x.reshaped([1, 2, x.shape.count / 2])
        let centered = groups - groups.mean(axes: [2], keepDims: true)
        let variance = (centered * centered).mean(axes: [2], keepDims: true)
        return (centered / sqrt(variance + 1e-5)).reshaped(x.shape)
    }

    /// Attention within windows of 4 × 4 pixels, without weights.
    private static func windows(_ x: Tensor) -> Tensor {
        let (h, w) = (x.shape[2] / 4, x.shape[3] / 4)
        let tokens = x.reshaped([8, h, 4, w, 4]).transposed([1, 3, 2, 4, 0])
            .reshaped([h * w, 16, 8])
        let weights = softmax(matmul(tokens, tokens.transposed([0, 2, 1])), axis: -1)
        return matmul(weights, tokens).reshaped([h, w, 4, 4, 8]).transposed([4, 0, 2, 1, 3])
            .reshaped(x.shape)
    }

    static let networks = [
        Network(
            testDescription: "one size of a reshape follows from the others", operation: "reshape"
        ) { $0.reshaped([8, $0.shape[2] * $0.shape[3]]) * 2 },
        Network(testDescription: "group normalization", operation: "shape", build: groupNorm),
        Network(testDescription: "windows", operation: "floor_div", build: windows),
        Network(testDescription: "a multiple of a size", operation: "mul") { x in
            concat([x, x * 2], axis: 1).reshaped([4, 2 * x.shape[2], 2 * x.shape[3]]) + 1
        },
        Network(testDescription: "the last rows", operation: "slice_by_index") { x in
            let (h, w) = (x.shape[2], x.shape[3])
            let row = x.sliced(axis: 2, (h - 3)..<(h - 2))
            return concat([x, row, x.sliced(axis: 2, (h - 1)..<h)], axis: 2)
                .sliced(axis: 3, 1..<(w - 1))
        },
        Network(testDescription: "a mean for each pixel", operation: "tile") { x in
            x.mean(axes: [2, 3], keepDims: true).broadcast(to: x.shape)
        },
    ]

    private static func lowered(
        _ network: Network, _ height: Int, _ width: Int
    ) throws -> MILProgram {
        let graph = Graph(mode: .inference)
        let output = network.build(graph.input("x", [1, 8, height, width]))
        return try MILLowering.lower(
            [("y", output)], variables: [:], options
        ).program
    }

    private static var options: LoweringOptions {
        var options = LoweringOptions(.float32, .iOS17)
        options.isFlexible = true
        return options
    }

    @Test(arguments: networks) func computesWhatTheNetworkDoesAtOtherSizes(
        _ network: Network
    ) throws {
        let other = try Self.lowered(network, 32, 64)
        let program = try Self.lowered(network, 16, 16).generalized(by: [
            other, Self.lowered(network, 48, 16),
        ])
        #expect(program.operations.contains { $0.type == network.operation })
        #expect(program.inputs[0].type.dimensions == [1, 8, nil, nil])
        let package = try package(program, .iOS17)
        for (height, width) in [(16, 16), (8, 40), (64, 24)] {
            let shape: Shape = [1, 8, height, width]
            let graph = Graph(mode: .inference)
            let expected = try network.build(graph.input("x", shape)).evaluate(
                inputs: ["x": numbers(shape)])
            let model = try raise(package, inputShapes: ["x": shape])
            let found = try #require(try model.run(["x": numbers(shape)])["y"])
            #expect(found.shape == expected.shape)
            #expect(try distance(found, expected) <= 1e-5)
        }
    }

    /// Without a third size, one that two sizes explain is taken; a third one that does not fit
    /// is not.
    @Test func whatTwoSizesExplainByChanceIsRefused() throws {
        let network = Network(testDescription: "", operation: "") { x in
            let (h, w) = (x.shape[2], x.shape[3])
            // At 16 and 32 a half, at 48 a third.
            let rows = h == 48 ? 16 : h / 2
            return x.sliced(axis: 2, 0..<rows).reshaped([1, 2, 4, rows, w]) * 2
        }
        let (first, second) = (
            try Self.lowered(network, 16, 16), try Self.lowered(network, 32, 64)
        )
        #expect {
            try first.generalized(by: [second, Self.lowered(network, 48, 32)])
        } throws: { error in
            "\(error)".contains("depends on the size of the image")
        }
    }

    /// A constant that has another value at another size.
    @Test func constantsThatDependOnTheSizeAreRefused() throws {
        let network = Network(testDescription: "", operation: "") { $0 * Float($0.shape[2]) }
        let (first, second) = (
            try Self.lowered(network, 16, 16), try Self.lowered(network, 32, 64)
        )
        #expect {
            try first.generalized(by: [second])
        } throws: { error in
            "\(error)".contains("its y depends on the size of the image")
        }
    }

    /// What coremltools writes for a shape that is not known, with numbers that are joined.
    @Test func sizesAreConstants() throws {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float32, [nil, 4, nil]))
        func whole(_ shape: [Int]) -> MILTensorType { MILTensorType(.int32, shape) }
        let shape = builder.operation("shape", ["x": .name(x)], name: "shape", type: whole([3]))
        func size(_ axis: Int32) -> String {
            builder.operation(
                "gather",
                [
                    "x": .name(shape), "indices": .constant(.integer(axis)),
                    "axis": .constant(.integer(0)), "batch_dims": .constant(.integer(0)),
                ], name: "size", type: whole([]))
        }
        let (rows, columns) = (size(0), size(2))
        let half = builder.operation(
            "floor_div", ["x": .name(columns), "y": .constant(.integer(2))], name: "half",
            type: whole([]))
        let two = builder.constant(.integer(2), name: "two")
        let four = builder.constant(.integer(4), name: "four")
        let wanted = builder.operation(
            "concat",
            [
                "values": .names([rows, two, half, four]), "axis": .constant(.integer(0)),
                "interleave": .constant(.bool(false)),
            ], name: "wanted", type: whole([4]))
        let result = builder.operation(
            "reshape", ["x": .name(x), "shape": .name(wanted)], name: "y",
            type: MILTensorType(.float32, [nil, 2, nil, 4]))
        try builder.output(result, as: "y")
        let package = try package(builder.program, .iOS15)
        let model = try raise(package, inputShapes: ["x": [3, 4, 10]])
        #expect(model.outputs[0].value.shape == [3, 2, 5, 4])
        #expect(throws: ConversionError.self) {
            try raise(package, inputShapes: ["x": [3, 4, 11]])
        }
    }

    /// Sizes that no shape has are refused, not computed with.
    @Test func impossibleSizesAreRefused() throws {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float32, [2, 3]))
        let whole = MILTensorType(.int32, [2])
        let shape = builder.operation("shape", ["x": .name(x)], name: "shape", type: whole)
        let wanted = builder.operation(
            "real_div", ["x": .name(shape), "y": .constant(.integers([0, 0]))], name: "wanted",
            type: whole)
        let result = builder.operation(
            "reshape", ["x": .name(x), "shape": .name(wanted)], name: "y",
            type: MILTensorType(.float32, [nil, nil]))
        try builder.output(result, as: "y")
        let package = try package(builder.program, .iOS15)
        #expect {
            try raise(package)
        } throws: { error in
            "\(error)".contains("out of range")
        }
    }
}
