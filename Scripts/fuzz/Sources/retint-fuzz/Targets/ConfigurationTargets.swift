import Foundation

@testable import RetintArchitectures
@testable import RetintCheckpoints
@testable import RetintMLPackage
@testable import RetintQuantization
@testable import RetintTraining

/// Training configurations, their settings, and the candidates of a search.
struct TrainingYAMLTarget: FuzzTarget {
    let name = "training-yaml"

    func seeds() -> [[UInt8]] {
        let whole = TrainingConfiguration().yaml
        let lines = whole.split(separator: "\n").map { $0.prefix { $0 != "#" } }
        return [Array(whole.utf8), Array(lines.joined(separator: "\n").utf8)]
            + ["architecture=lite-unet", "width=0.5\nsteps=10", "a: &a {b: c}\nd: *a"].map {
                Array($0.utf8)
            }
    }

    func run(_ input: [UInt8]) throws {
        let text = String(decoding: input, as: UTF8.self)
        var configuration = TrainingConfiguration()
        for line in text.split(separator: "\n").prefix(8) {
            do { try configuration.set(String(line)) } catch { checkIsOwn(error) }
        }
        try use(TrainingConfiguration(yaml: text, name: "file.yaml"))
    }

    /// What follows from the numbers, without photos.
    private func use(_ configuration: TrainingConfiguration) throws {
        let candidate = SearchCandidate(
            settings: ["steps=\(configuration.steps)"], configuration: configuration)
        precondition(!candidate.folderName.contains("/"))
        let again = try TrainingConfiguration(yaml: configuration.yaml, name: "written")
        precondition(
            again.differences(from: configuration).isEmpty, "what was written reads differently")
        for step in [0, 1, configuration.steps / 2, max(configuration.steps - 1, 0)] {
            _ = configuration.schedule.share(at: step, of: configuration.steps)
        }
        let options = try ColorizerOptions(configuration.network.texts)
        _ = try NetworkDescription.named(configuration.architecture, options).make()
    }
}

/// Plans of quantization, applied to a small package.
struct QuantizationYAMLTarget: FuzzTarget {
    let name = "quantization-yaml"

    func seeds() -> [[UInt8]] {
        [
            "global_config: {weights: int8}\n",
            "config_type: OpPalettizerConfig\nglobal_config: {nbits: 4, group_size: 2}\n",
            """
            config_type: OpLinearQuantizerConfig
            global_config: {dtype: int4, mode: linear, granularity: per_block, block_size: 2}
            op_type_configs: {conv: null, matmul: {weight_threshold: 10}}
            op_name_configs: {conv_1: {dtype: uint8, mode: linear_symmetric}}

            """,
            "config_type: OpMagnitudePrunerConfig\nglobal_config: {n_m_ratio: [2, 4], dim: 1}\n",
            "global_config: {config_type: OpMagnitudePrunerConfig, target_sparsity: 0.5}\n",
            "global_config: {config_type: OpMagnitudePrunerConfig, block_size: 2}\n",
        ].map { Array($0.utf8) }
    }

    private static let package = Result { try smallPackage() }

    /// Two convolutions of few channels.
    private static func smallPackage() throws -> MLPackage {
        var builder = MILProgramBuilder()
        let x = builder.input("x", MILTensorType(.float32, [1, 4, 8, 8]))
        let first = builder.operation(
            "conv", ["x": .name(x), "weight": weight([8, 4, 3, 3]), "pad_type": same],
            name: "conv_1", type: MILTensorType(.float32, [1, 8, 8, 8]))
        let second = builder.operation(
            "conv", ["x": .name(first), "weight": weight([6, 8, 1, 1]), "pad_type": same],
            name: "conv_2", type: MILTensorType(.float32, [1, 6, 8, 8]))
        try builder.output(second, as: "y")
        let features = [("x", 4), ("y", 6)].map { name, channels in
            Feature(name, .multiArray(ArrayFeature(.float32, [1, channels, 8, 8])))
        }
        return MLPackage(
            target: .iOS18,
            description: ModelDescription(inputs: [features[0]], outputs: [features[1]]),
            program: builder.program)
    }

    private static var same: MILOperand { .constant(.string("same")) }

    private static func weight(_ shape: [Int]) -> MILOperand {
        let count = shape.reduce(1, *)
        return .constant(.floats((0..<count).map { Float($0 * 37 % 101) - 50 }, shape: shape))
    }

    func run(_ input: [UInt8]) throws {
        let text = String(decoding: input, as: UTF8.self)
        let plan = try QuantizationPlan(
            yaml: text, name: "file.yaml", standard: QuantizationScheme(.int8))
        _ = try Self.package.get().quantized(plan)
    }
}
