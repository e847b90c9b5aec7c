import RetintDeviceRules
import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import Testing

/// Other forms of operations that devices compute wrongly give the same values.
@Suite struct RewritingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rule: String
        /// The replaced operation's result, as a value of the builder's program.
        let build: @Sendable (inout MILProgramBuilder, String) -> String
    }

    private static let shape = [1, 2, 3, 4]

    private static func type(_ shape: [Int]) -> MILTensorType { MILTensorType(.float16, shape) }

    private static func transposed(
        _ parameters: [String: MILOperand], to size: [Int]
    ) -> @Sendable (inout MILProgramBuilder, String) -> String {
        { builder, x in
            let weights = (0..<36).map { Float($0 % 7) / 8 - 0.25 }
            let weight = MILValue.floats(weights, shape: [2, 2, 3, 3], as: .float16)
            var operands: [String: MILOperand] = [
                "x": .name(x), "weight": .constant(weight), "strides": .integers([2, 2]),
            ]
            operands.merge(parameters) { $1 }
            return builder.operation(
                "conv_transpose", operands, name: "t", type: type([1, 2] + size))
        }
    }

    private static func logSumExp(
        _ axes: [Int], keeps: Bool, _ shape: [Int]
    ) -> @Sendable (inout MILProgramBuilder, String) -> String {
        { builder, x in
            builder.operation(
                "reduce_log_sum_exp",
                [
                    "x": .name(x), "axes": .integers(axes), "keep_dims": .constant(.bool(keeps)),
                ], name: "l", type: type(shape))
        }
    }

    private static let matrixShape = [6, 5]

    /// A matrix product of the input, as 6 rows of 4 values.
    private static func matrix(
        _ builder: inout MILProgramBuilder, _ x: String, _ kind: String
    ) -> String {
        let rows = builder.operation(
            "reshape", ["x": .name(x), "shape": .integers([6, 4])], name: "r", type: type([6, 4]))
        let weights = (0..<20).map { Float($0 % 7) / 8 - 0.25 }
        let isLinear = kind == "linear"
        let weight = MILValue.floats(weights, shape: isLinear ? [5, 4] : [4, 5], as: .float16)
        var operands: [String: MILOperand] = ["x": .name(rows)]
        operands[isLinear ? "weight" : "y"] = .constant(weight)
        if isLinear {
            let bias = [Float](stride(from: -0.5, to: 0.75, by: 0.25))
            operands["bias"] = .constant(.floats(bias, shape: [5], as: .float16))
        } else {
            operands["transpose_x"] = .constant(.bool(false))
            operands["transpose_y"] = .constant(.bool(false))
        }
        return builder.operation(kind, operands, name: "p", type: type(matrixShape))
    }

    private static func hardSwish(_ builder: inout MILProgramBuilder, _ x: String) -> String {
        let gate = builder.operation(
            "sigmoid_hard",
            [
                "x": .name(x), "alpha": .constant(.float(1 / 6, as: .float16)),
                "beta": .constant(.float(0.5, as: .float16)),
            ], name: "g", type: type(matrixShape))
        return builder.operation(
            "mul", ["x": .name(x), "y": .name(gate)], name: "m", type: type(matrixShape))
    }

    static let cases = [
        Case(testDescription: "softplus", rule: "softplus") { builder, x in
            builder.operation("softplus", ["x": .name(x)], name: "s", type: type(shape))
        },
        Case(testDescription: "log(1 + exp(x))", rule: "softplus") { builder, x in
            let power = builder.operation("exp", ["x": .name(x)], name: "e", type: type(shape))
            let sum = builder.operation(
                "add", ["x": .constant(.float(1, as: .float16)), "y": .name(power)], name: "a",
                type: type(shape))
            return builder.operation("log", ["x": .name(sum)], name: "l", type: type(shape))
        },
        Case(
            testDescription: "reduce_log_sum_exp", rule: "log-sum-exp",
            build: logSumExp([-1, 1], keeps: false, [1, 3])),
        Case(
            testDescription: "reduce_log_sum_exp, keeps", rule: "log-sum-exp",
            build: logSumExp([2], keeps: true, [1, 2, 1, 4])),
        Case(testDescription: "log(sum(exp(x)))", rule: "log-sum-exp") { builder, x in
            let power = builder.operation("exp", ["x": .name(x)], name: "e", type: type(shape))
            let sum = builder.operation(
                "reduce_sum",
                [
                    "x": .name(power), "axes": .integers([1]),
                    "keep_dims": .constant(.bool(false)),
                ], name: "s", type: type([1, 3, 4]))
            return builder.operation("log", ["x": .name(sum)], name: "l", type: type([1, 3, 4]))
        },
        Case(testDescription: "linear and hard swish", rule: "matrix-hard-swish") {
            let product = matrix(&$0, $1, "linear")
            return hardSwish(&$0, product)
        },
        Case(testDescription: "matmul and relu6(x + 3) / 6", rule: "matrix-hard-swish") {
            let product = matrix(&$0, $1, "matmul")
            let sum = $0.operation(
                "add", ["x": .constant(.float(3, as: .float16)), "y": .name(product)], name: "a",
                type: type(matrixShape))
            let gate = $0.operation("relu6", ["x": .name(sum)], name: "g", type: type(matrixShape))
            return $0.operation(
                "mul", ["x": .name(product), "y": .name(gate)], name: "m", type: type(matrixShape))
        },
        Case(
            testDescription: "uneven padding with an output shape", rule: "transposed-padding",
            build: transposed(
                [
                    "pad_type": .constant(.string("custom")), "pad": .integers([0, 1, 1, 0]),
                    "output_shape": .integers([1, 2, 6, 8]),
                ], to: [6, 8])),
        Case(
            testDescription: "uneven padding", rule: "transposed-padding",
            build: transposed(
                ["pad_type": .constant(.string("custom")), "pad": .integers([1, 0, 0, 2])],
                to: [6, 7])),
    ]

    private func program(_ example: Case) throws -> MLPackage {
        var builder = MILProgramBuilder()
        let x = builder.input("x", Self.type(Self.shape))
        let value = example.build(&builder, x)
        let shape = builder.program.types[value]?.shape ?? []
        let y = builder.operation("relu", ["x": .name(value)], name: "y", type: Self.type(shape))
        try builder.output(y, as: "y")
        return try package(builder.program)
    }

    private func values(_ package: MLPackage, scale: Float, _ rounding: ResultRounding) throws
        -> [Float]
    {
        let model = try raise(package, rounding: rounding)
        let scalars = (0..<24).map { (Float(($0 * 7) % 24) - 12) / 12 * scale }
        let input = TensorData(shape: Shape(Self.shape), scalars: scalars)
        return try #require(model.run(["x": input])["y"]).scalars
    }

    @Test(arguments: cases)
    func computesTheSame(_ example: Case) throws {
        let original = try program(example)
        let (changed, replaced) = original.avoidingWrongNumbers()
        #expect(replaced.count == 1)
        let rules = PlacementReport(original).findings.map(\.rule)
        #expect(rules.contains(example.rule))
        #expect(PlacementReport(changed).wrongOperations == 0)
        if example.rule == "matrix-hard-swish" {
            // The whole hard swish has rank 4, and its result is reshaped to rank 2 once.
            let back = changed.program.operations.filter { $0.type == "reshape" }
            #expect(back.map { $0.outputs[0].type.rank } == [2, 4, 2])
        }
        let (found, expected) = try (
            values(changed, scale: 4, .none), values(original, scale: 4, .none)
        )
        #expect(expected.contains { $0 > 0.5 })
        for (value, wanted) in zip(found, expected) { #expect(abs(value - wanted) <= 1e-5) }
        #expect(found.count == expected.count)
        // Nothing is left that only the replaced form used.
        let types = changed.program.operations.map(\.type)
        #expect(types.filter { $0 == "exp" }.count <= 1)
    }

    /// In half precision, the stable form gives what the other loses to infinity.
    @Test(arguments: cases.prefix(2))
    func staysFinite(_ example: Case) throws {
        let changed = try program(example).avoidingWrongNumbers().package
        let (found, expected) = try (
            values(changed, scale: 50, .every), values(program(example), scale: 50, .none)
        )
        for (value, wanted) in zip(found, expected) { #expect(abs(value - wanted) <= 0.05) }
    }

    @Test func leavesOthersAlone() throws {
        let plain = try program(
            Case(testDescription: "", rule: "") { builder, x in
                builder.operation("tanh", ["x": .name(x)], name: "t", type: Self.type(Self.shape))
            })
        let (changed, replaced) = plain.avoidingWrongNumbers()
        #expect(changed == plain && replaced.isEmpty)
    }
}
