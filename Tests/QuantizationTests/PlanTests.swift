import Foundation
import RetintFiles
import RetintMIL
import RetintMLPackage
import RetintTestSupport
import Testing

@testable import RetintQuantization

/// The scheme that a plan gives each weight.
@Suite struct PlanTests {
    private func plan(_ yaml: String) throws -> QuantizationPlan {
        try QuantizationPlan(yaml: yaml, name: "plan.yaml", standard: nil)
    }

    @Test func readsCoremltoolsConfigurations() throws {
        let plan = try plan(
            """
            config_type: OpLinearQuantizerConfig
            global_config:
              mode: linear
              dtype: uint4
              granularity: per_block
              block_size: 16
              weight_threshold: 512
            op_type_configs:
              conv_transpose: null
              matmul:
                config_type: OpPalettizerConfig
                nbits: 4
                mode: uniform
                granularity: per_grouped_channel
                group_size: 4
            op_name_configs:
              head_weight:
                config_type: OpMagnitudePrunerConfig
                target_sparsity: 0.75
              stem*: { weights: palette6 }
              body: { config_type: OpMagnitudePrunerConfig, n_m_ratio: [2, 4], dim: 0 }
              tail: { config_type: OpMagnitudePrunerConfig, target_sparsity: 0.5, block_size: 4 }
            """)
        let sparse = ["body", "tail"].map {
            plan.weights.scheme(names: [$0], type: "conv")?.description
        }
        #expect(
            sparse == ["sparse 2:4 along output channels", "sparse 0.5 in blocks of 4"])
        let standard = try #require(plan.weights.scheme(names: ["w", "conv_0"], type: "conv"))
        #expect(standard.description == "uint4 per-block 16 linear" && standard.threshold == 512)
        #expect(plan.weights.scheme(names: ["w"], type: "conv_transpose") == nil)
        #expect(
            plan.weights.scheme(names: ["w"], type: "matmul")?.description
                == "palette4 per-group 4 uniform")
        #expect(
            plan.weights.scheme(names: ["head_weight"], type: "conv")?.description == "sparse 0.75")
        #expect(
            plan.weights.scheme(names: ["w", "stem_conv"], type: "conv")?.description
                == "palette6 per-tensor")
    }

    /// What was done is written, read, and does the same again.
    @Test func settingsAreReadBack() throws {
        let scratch = try TemporaryFolder()
        let package = try MLPackage(contentsOf: try scratch.export(.iOS18))
        let names = package.weights.filter { $0.shape.reduce(1, *) > 2048 }.map(\.name)
        var blocks = QuantizationScheme(.int8, granularity: .perBlock, blockSize: 8)
        (blocks.sparsity, blocks.pruning) = (0.25, .blocks(of: 4))
        var ratio = QuantizationScheme(.unchanged)
        (ratio.pruning, ratio.chosenPruningAxis) = (.ratio(zeros: 12, of: 16), .output)
        var linear = QuantizationScheme(.uint4)
        linear.mode = .linear
        var uniform = QuantizationScheme(.palette(bits: 4), granularity: .perGroup, blockSize: 8)
        uniform.paletteMode = .uniform
        let schemes = [
            QuantizationScheme(.float16), QuantizationScheme(.int8, granularity: .perTensor),
            linear, uniform, blocks, ratio,
        ]
        var plan = QuantizationPlan(nil)
        for (name, scheme) in zip(names, schemes) { plan.weights.byName[name] = scheme }
        let (_, report) = try package.quantized(plan)
        #expect(report.compressed.count == schemes.count)
        let folder = scratch.path("settings")
        try QuantizationSettings(plan, of: package, report).write(to: folder)
        #expect(
            try contents(ofFolder: folder).keys.sorted() == [
                "Quantizer.yaml", "linear_quantize_weights.yaml", "palettize_weights.yaml",
                "prune_weights.yaml", "retint.yaml",
            ])
        let read = try QuantizationPlan(contentsOf: "\(folder)/retint.yaml", standard: nil)
        for (name, scheme) in zip(names, schemes) {
            var expected = scheme
            expected.threshold = 0
            if expected.granularity == nil, scheme.weights.hasBlocks {
                expected.granularity = scheme.chosenGranularity
            }
            #expect(read.weights.scheme(names: [name], type: "conv") == expected, "\(name)")
        }
        let linears = try QuantizationPlan(
            contentsOf: "\(folder)/linear_quantize_weights.yaml", standard: nil)
        #expect(linears.weights.byName.keys.sorted() == [names[1], names[2], names[4]].sorted())
        // Its own folder is replaced, another one is not.
        try QuantizationSettings(plan, of: package, report).write(to: folder)
        try "mine".write(toFile: "\(folder)/notes.txt", atomically: true, encoding: .utf8)
        #expect(throws: FileError.self) { try QuantizationSettings.checkReplaceable(folder) }
    }

    @Test func activationsAreSettingsOfTheirOwn() throws {
        let scratch = try TemporaryFolder()
        let package = try MLPackage(contentsOf: try scratch.export(.iOS17))
        var plan = QuantizationPlan(
            QuantizationScheme(.int8), activations: ActivationScheme(.uint8, mode: .linear))
        plan.activations.byType["add"] = .some(nil)
        let texts = try QuantizationSettings(plan, of: package, QuantizationReport()).texts()
        let read = try QuantizationPlan(
            yaml: #require(texts["retint.yaml"]), name: "plan.yaml", standard: nil)
        #expect(read.activations == plan.activations)
        let theirs = try #require(texts["linear_quantize_activations.yaml"])
        #expect(theirs.contains("OpLinearQuantizerConfig") && !theirs.contains("range"))
        let modules = try #require(texts["Quantizer.yaml"])
        #expect(
            modules.contains(
                "op_input_spec: {'*': {dtype: uint8, qscheme: asymmetric, granularity: "
                    + "{type: per_tensor}}}, op_output_spec: null, op_state_spec: null}"),
            "\(modules)")
    }

    @Test func keepsTheDefaultWithoutAGlobalConfig() throws {
        let scheme = QuantizationScheme(.palette(bits: 2))
        let plan = try QuantizationPlan(
            yaml: "op_type_configs: { conv: null }", name: "plan.yaml", standard: scheme)
        #expect(plan.weights.scheme(names: ["w"], type: "conv") == nil)
        #expect(plan.weights.scheme(names: ["w"], type: "matmul") == scheme)
    }

    @Test func exactNamesAndLongerPatternsTakePrecedence() {
        var plan = QuantizationPlan(nil)
        plan.weights.byName = [
            "a*": QuantizationScheme(.int8), "ab*": QuantizationScheme(.int4),
            "abc": QuantizationScheme(.uint8), "*z": nil,
        ]
        #expect(plan.weights.scheme(names: ["abc"], type: "conv")?.weights == .uint8)
        #expect(plan.weights.scheme(names: ["abd"], type: "conv")?.weights == .int4)
        #expect(plan.weights.scheme(names: ["ax"], type: "conv")?.weights == .int8)
        #expect(plan.weights.scheme(names: ["z"], type: "conv") == nil)
    }

    @Test func rejectsNamesThatMatchNothing() throws {
        let scratch = try TemporaryFolder()
        let source = try scratch.export(.iOS18)
        for key in ["op_type_configs: { linear: null }", "op_name_configs: { 'stum*': null }"] {
            let plan = try QuantizationPlan(
                yaml: key, name: "plan.yaml", standard: QuantizationScheme(.int8))
            let error = try #require(throws: ConversionError.self) {
                try quantizePackage(at: source, to: scratch.path("x.mlpackage"), plan: plan)
            }
            #expect(error.description.contains("names are such as stem"), "\(error)")
        }
    }

    @Test(arguments: [
        (
            "global_config: { dtype: int8 }",
            "line 1: the configuration has neither config_type nor weights"
        ),
        ("global: 1", "there is no key global"),
        ("a: [", "not valid YAML"),
        (
            "config_type: OpPalettizerConfig\nglobal_config: { nbits: 5 }",
            "line 2: 5 is not a valid value"
        ),
        (
            "config_type: OpPalettizerConfig\nglobal_config: { nbits: 4, lut_function: x }",
            "lut_function is not supported"
        ),
        ("global_config: { weights: [int8] }", "the key takes a single value"),
        ("global_config: { weights: int8, n_m_ratio: 2 }", "a list of two integers"),
        ("- 1", "the file must be a mapping"),
        ("config_type: OpThresholdPrunerConfig\nglobal_config: {}", "OpMagnitudePrunerConfig"),
    ])
    func refuses(_ yaml: String, _ words: String) throws {
        let error = try #require(throws: ConversionError.self) { try plan(yaml) }
        #expect(error.description.contains(words) && error.file == "plan.yaml", "\(error)")
    }
}
