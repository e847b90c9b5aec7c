import RetintMIL
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
