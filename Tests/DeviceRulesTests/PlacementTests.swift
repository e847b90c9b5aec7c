import RetintCheckpoints
import RetintDeviceRules
import RetintExport
import RetintGraph
import RetintMLPackage
import RetintPackageSupport
import Testing

/// Each rule applies to an operation beyond its threshold, but not to one at the threshold.
@Suite struct PlacementTests {
    /// A minimal operation on float16 tensors to which no other rule applies.
    struct Example: Sendable {
        var type = "relu"
        var parameters: [String: MILOperand] = [:]
        var x: [Int] = [1, 32, 64, 64]
        var y: [Int]?
        var output: [Int]?
        var weight: [Int]?
        var dataType = MILDataType.float16
        /// The types of operations between the input and `parameter` of the operation.
        var before: [String] = []
        var parameter = "x"

        func report() throws -> PlacementReport {
            var builder = MILProgramBuilder()
            let input = builder.input("x", MILTensorType(.float16, x))
            var value = input
            for type in before {
                value = builder.operation(
                    type, ["x": .name(value)], name: type, type: MILTensorType(dataType, x))
            }
            var operands = parameters.merging(["x": .name(input)]) { $1 }
            operands[parameter] = .name(value)
            if let y { operands["y"] = .name(builder.input("y", MILTensorType(.float16, y))) }
            if let weight {
                operands["weight"] = .constant(
                    .floats([Float](repeating: 1, count: weight.reduce(1, *)), shape: weight))
            }
            let name = builder.operation(
                type, operands, name: "out", type: MILTensorType(dataType, output ?? x))
            try builder.output(name, as: "out")
            return PlacementReport(try package(builder.program))
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let rule: String
        let named: Example
        let spared: Example

        var testDescription: String { rule }

        init(_ rule: String, _ named: Example, spares spared: Example) {
            self.rule = rule
            self.named = named
            self.spared = spared
        }
    }

    private static func conv(
        _ parameters: [String: MILOperand] = [:], type: String = "conv", kernel: Int = 3,
        channels: Int = 32
    ) -> Example {
        Example(
            type: type, parameters: parameters, output: [1, channels, 64, 64],
            weight: [channels, 32, kernel, 3])
    }

    /// A transposed convolution of a 3 × 3 kernel to the size of its input.
    private static func padded(
        _ padding: [Int], dilation: Int = 1, dataType: MILDataType = .float16
    ) -> Example {
        var example = conv(
            [
                "pad_type": .constant(.string("custom")), "pad": .integers(padding),
                "dilations": .integers([dilation, dilation]),
            ], type: "conv_transpose")
        example.dataType = dataType
        return example
    }

    private static func pool(_ size: Int, stride: Int) -> Example {
        Example(
            type: "avg_pool",
            parameters: [
                "kernel_sizes": .integers([size, 2]), "strides": .integers([stride, stride]),
            ])
    }

    private static func upsample(_ height: Int, aligned: Bool? = nil) -> Example {
        var example = Example(type: "upsample_nearest_neighbor", output: [1, 32, height, 128])
        if let aligned {
            example.type = "upsample_bilinear"
            example.parameters = [
                "align_corners": .constant(.bool(aligned)),
                "half_pixel_centers": .constant(.bool(false)),
            ]
        }
        return example
    }

    private static func strides(_ height: Int, _ width: Int) -> [String: MILOperand] {
        ["strides": .integers([height, width])]
    }

    static let cases: [Case] = [
        Case("float32", Example(dataType: .float32), spares: Example()),
        Case(
            "float32", Example(type: "mul", dataType: .float32),
            spares: Example(type: "cast", dataType: .float32)),
        Case("integer", Example(type: "cast", dataType: .int32), spares: Example(dataType: .int16)),
        Case("rank", Example(x: [1, 1, 1, 2, 2, 32]), spares: Example(x: [1, 1, 2, 2, 32])),
        Case("extent", Example(x: [1, 1, 1, 16385]), spares: Example(x: [1, 1, 1, 16384])),
        Case("narrow", Example(x: [1, 32, 64, 31]), spares: Example(x: [1, 32, 64, 32])),
        Case("narrow", Example(x: [1, 32, 1]), spares: Example(x: [32, 1])),
        Case("uneven-width", Example(x: [1, 32, 64, 80]), spares: Example(x: [1, 32, 64, 96])),
        Case("dilation", conv(["dilations": .integers([1, 2])]), spares: conv()),
        Case(
            "dilation", conv(["dilations": .integers([3, 3])]),
            spares: conv(["dilations": .integers([1, 1])])),
        Case(
            "large-dilation", conv(["dilations": .integers([4, 1])]),
            spares: conv(["dilations": .integers([3, 3])])),
        Case("large-kernel", conv(kernel: 8), spares: conv(kernel: 7)),
        Case("stride", conv(strides(5, 5)), spares: conv(strides(6, 6))),
        Case("stride", conv(strides(4, 3)), spares: conv(strides(2, 3))),
        Case("stride", conv(strides(36, 36)), spares: conv(strides(32, 32))),
        Case("stride", conv(strides(3, 1)), spares: conv(strides(2, 1))),
        Case(
            "transposed-stride", conv(strides(8, 8), type: "conv_transpose"),
            spares: conv(strides(4, 4), type: "conv_transpose")),
        Case(
            "transposed-stride", conv(strides(4, 1), type: "conv_transpose"),
            spares: conv(strides(4, 1))),
        Case("channels", conv(channels: 313), spares: conv(channels: 48)),
        Case("upsampling", upsample(256), spares: upsample(128)),
        Case("upsampling", upsample(96), spares: upsample(64)),
        Case("resize-grid", upsample(128, aligned: true), spares: upsample(128, aligned: false)),
        Case("pool-kernel", pool(14, stride: 2), spares: pool(13, stride: 2)),
        Case("pool-stride", pool(3, stride: 3), spares: pool(3, stride: 2)),
        Case("pool-stride-4", pool(4, stride: 4), spares: pool(4, stride: 2)),
        Case(
            "padding", pad("reflect", [0, 0, 1, 0, 1, 1, 1, 1]),
            spares: pad("reflect", [0, 0, 0, 0, 1, 1, 1, 1])),
        Case(
            "padding", pad("replicate", [1, 0, 0, 0, 0, 0, 0, 0]),
            spares: pad("constant", [1, 0, 0, 0, 0, 0, 0, 0])),
        Case("recurrent", Example(type: "lstm"), spares: Example(type: "tanh")),
        Case("gather", Example(type: "gather"), spares: Example(type: "slice_by_index")),
        Case("softmax-axis", softmax(-1), spares: softmax(1)),
        Case("softmax-axis", softmax(2), spares: softmax(-3)),
        Case(
            "broadcast", Example(type: "mul", y: [1, 32, 1, 1]),
            spares: Example(type: "mul", y: [1, 32, 64, 64])),
        Case(
            "broadcast", Example(type: "add", y: [1, 32, 1, 1]),
            spares: Example(
                type: "add",
                parameters: ["y": .constant(.floats([Float](repeating: 1, count: 32)))])),
        Case("softplus", Example(type: "softplus"), spares: Example(type: "softsign")),
        Case(
            "softplus", Example(type: "softplus_parametric"),
            spares: Example(type: "softplus", dataType: .float32)),
        Case(
            "log-sum-exp", Example(type: "reduce_log_sum_exp"),
            spares: Example(type: "reduce_sum")),
        Case(
            "log-sum-exp", Example(type: "log", before: ["exp", "reduce_sum"]),
            spares: Example(type: "log", before: ["sub", "reduce_sum"])),
        Case(
            "matrix-hard-swish", Example(type: "sigmoid_hard", x: [32, 64], before: ["linear"]),
            spares: Example(type: "sigmoid_hard", x: [1, 1, 32, 64], before: ["linear"])),
        Case(
            "matrix-hard-swish", Example(type: "relu6", x: [32, 64], before: ["matmul", "add"]),
            spares: Example(type: "relu6", x: [32, 64], before: ["matmul"])),
        Case(
            "convolution-hard-swish", Example(type: "sigmoid_hard", before: ["conv"]),
            spares: Example(type: "sigmoid", before: ["conv"])),
        Case(
            "transposed-padding", padded([0, 0, 0, 0]), spares: padded([1, 1, 1, 1])),
        Case(
            "transposed-padding", padded([2, 0, 1, 1]),
            spares: padded([2, 0, 1, 1], dataType: .float32)),
        Case(
            "transposed-padding", padded([1, 1, 1, 1], dilation: 2),
            spares: padded([2, 2, 2, 2], dilation: 2)),
        Case(
            "largest-index", Example(type: "reduce_argmax"), spares: Example(type: "reduce_max")),
        Case(
            "largest-index", Example(type: "reduce_argmin"), spares: Example(type: "reduce_min")),
        Case(
            "gather-of-top",
            Example(type: "gather", before: ["topk", "cast"], parameter: "indices"),
            spares: Example(type: "gather", before: ["add"], parameter: "indices")),
        Case(
            "attention", Example(type: "matmul", y: [1, 32, 64, 64], before: ["softmax"]),
            spares: Example(type: "matmul", y: [1, 32, 64, 64], before: ["relu"])),
        Case(
            "attention", Example(type: "matmul", y: [1, 32, 64, 64], before: ["softmax", "cast"]),
            spares: Example(
                type: "matmul", parameters: ["y": .constant(.floats([1], shape: [1, 1]))],
                x: [1, 32, 64, 1], before: ["softmax"])),
        Case("linear", Example(type: "linear"), spares: Example(type: "matmul")),
        Case(
            "width-copy",
            Example(type: "transpose", parameters: ["perm": .integers([0, 2, 3, 1])]),
            spares: Example(type: "transpose", parameters: ["perm": .integers([0, 2, 1, 3])])),
        Case(
            "width-copy", Example(type: "reshape", output: [1, 32, 4096]),
            spares: Example(type: "reshape", output: [1, 2048, 64])),
    ]

    private static func pad(_ mode: String, _ amounts: [Int]) -> Example {
        Example(
            type: "pad",
            parameters: ["mode": .constant(.string(mode)), "pad": .integers(amounts)])
    }

    private static func softmax(_ axis: Int32) -> Example {
        Example(type: "softmax", parameters: ["axis": .constant(.integer(axis))])
    }

    @Test(arguments: cases)
    func names(_ example: Case) throws {
        let named = try example.named.report()
        let finding = try #require(named.findings.first { $0.rule == example.rule })
        #expect(finding.name == "out" && finding.type == example.named.type)
        #expect(!finding.detail.isEmpty)
        let spared = try example.spared.report().findings
        #expect(!spared.contains { $0.rule == example.rule }, "\(spared)")
    }

    /// Flexible sizes in the model's interface.
    @Test func namesInputs() throws {
        var package = try package(plain())
        func rules(_ flexibility: ArrayFeature.Flexibility) -> [String] {
            package.description.inputs[0].type = .multiArray(
                ArrayFeature(.float16, [1, 32, 64, 64], flexibility))
            let findings = PlacementReport(package).findings
            #expect(findings.allSatisfy { $0.name == "x" && $0.type == "input" })
            return findings.map(\.rule)
        }
        let fixed = [1, 32, 64].map { SizeRange($0, $0) }
        #expect(rules(.ranges(fixed + [SizeRange(64, nil)])) == ["shape-range"])
        #expect(rules(.ranges(fixed + [SizeRange(64, 64)])).isEmpty)
        #expect(rules(.enumerated([[1, 32, 128, 64]])) == ["listed-shapes"])
        #expect(rules(.enumerated([[1, 32, 64, 64]])).isEmpty)
        #expect(rules(.fixed).isEmpty)
    }

    private func plain() throws -> MILProgram {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float16, [1, 32, 64, 64]))
        let y = builder.operation(
            "relu", ["x": .name(x)], name: "y", type: MILTensorType(.float16, [1, 32, 64, 64]))
        try builder.output(y, as: "y")
        return builder.program
    }

    /// A 32 to 32 channel convolution whose weights an iOS18 constexpr operation decompresses.
    private func compressed(
        _ type: String, _ parameters: [String: MILOperand], stride: Int
    ) throws -> PlacementReport {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float16, [1, 32, 64, 64]))
        let weight = builder.operation(
            type, parameters, name: "w", type: MILTensorType(.float16, [32, 32, 1, 1]))
        let y = builder.operation(
            "conv",
            ["x": .name(x), "weight": .name(weight), "strides": .integers([stride, stride])],
            name: "out", type: MILTensorType(.float16, [1, 32, 64, 64]))
        try builder.output(y, as: "out")
        return PlacementReport(try package(builder.program))
    }

    @Test func namesCompressedWeights() throws {
        let table: [String: MILOperand] = [
            "indices": .inline(
                .packed([Int32](repeating: 1, count: 1024), shape: [32, 32, 1, 1], as: .uint1)),
            "lut": .inline(.floats([0, 1], shape: [1, 1, 1, 1, 2, 1], as: .float16)),
        ]
        let wide = try compressed("constexpr_lut_to_dense", table, stride: 3)
        #expect(wide.findings.map(\.rule) == ["palette-stride"])
        #expect(try compressed("constexpr_lut_to_dense", table, stride: 2).findings.isEmpty)

        func scaled(_ dataType: MILDataType, _ blocks: Int) throws -> [String] {
            let codes = [Int32](repeating: 1, count: 1024)
            let scales = [Float](repeating: 1, count: 32 * blocks)
            return try compressed(
                "constexpr_blockwise_shift_scale",
                [
                    "data": .inline(.packed(codes, shape: [32, 32, 1, 1], as: dataType)),
                    "scale": .inline(.floats(scales, shape: [32, blocks, 1, 1], as: .float16)),
                ], stride: 1
            ).findings.map(\.rule)
        }
        #expect(try scaled(.int4, 2) == ["block-scales"])
        #expect(try scaled(.int4, 1).isEmpty)
        #expect(try scaled(.int8, 2).isEmpty)
    }

    @Test func rulesSayAllThatIsAsked() {
        let rules = PlacementRule.all
        #expect(Set(rules.map(\.id)).count == rules.count && rules.count >= 33)
        for rule in rules {
            let texts = [rule.subject, rule.threshold, rule.advice] + rule.sources
            #expect(!rule.sources.isEmpty && texts.allSatisfy { !$0.isEmpty }, "\(rule.id)")
        }
        let tested = Set(Self.cases.map(\.rule)).union([
            "shape-range", "listed-shapes", "palette-stride", "block-scales",
        ])
        #expect(tested == Set(rules.map(\.id)))
    }

    @Test func countsOperationsOnce() throws {
        let report = try Self.conv(
            ["dilations": .integers([2, 2])].merging(Self.strides(5, 5)) { $1 }, channels: 30
        ).report()
        #expect(report.operations == 1 && report.namedOperations == 1)
        #expect(report.refusedOperations == 0)
        #expect(report.findings.map(\.rule) == ["dilation", "stride", "channels"])
        #expect(report.notice.hasPrefix("rules, not a measurement"))
        #expect(try Self.upsample(256).report().refusedOperations == 1)
        #expect(report.wrongOperations == 0)
        #expect(try Example(type: "softplus").report().wrongOperations == 1)
    }

    struct Network: Sendable {
        let name: String
        /// The expected number of findings, by rule id.
        let counts: [String: Int]
    }

    /// The rules apply to the published networks; mobile-unet was designed to avoid them.
    @Test(arguments: [
        Network(name: "eccv16", counts: ["dilation": 6, "upsampling": 1, "float32": 0]),
        Network(name: "siggraph17", counts: ["dilation": 6, "upsampling": 0, "float32": 0]),
        Network(name: "mobile-unet", counts: ["dilation": 0, "upsampling": 0, "float32": 0]),
    ])
    func networks(_ network: Network) throws {
        let options = ExportOptions(precision: .float16, size: 256)
        let report = PlacementReport(try exported(network.name, options))
        for (rule, count) in network.counts {
            #expect(report.rules.first { $0.rule.id == rule }?.count == count, "\(rule)")
        }
        let float32 = PlacementReport(try exported(network.name, ExportOptions(size: 64)))
        #expect(float32.refusedOperations == float32.operations)
    }

    private func exported(_ name: String, _ options: ExportOptions) throws -> MLPackage {
        let checkpoint = try Checkpoint(.named(name), seed: 5)
        let source = ExportSource(
            checkpoint.network, colorizer: try checkpoint.network.make(),
            variables: checkpoint.variables)
        return try source.package(options).package
    }
}
