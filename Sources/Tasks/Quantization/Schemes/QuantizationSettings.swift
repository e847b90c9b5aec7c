public import RetintFiles
import RetintMIL
public import RetintMLPackage
import Yams

/// What a quantization did to each weight, as configurations of coremltools and of coreai-opt.
///
/// coremltools applies one kind of compression at a time, so that each has a file of its own, which
/// is named after the function that takes it as `OptimizationConfig`: `prune_weights.yaml`,
/// `palettize_weights.yaml`, `linear_quantize_weights.yaml` and `linear_quantize_activations.yaml`.
/// Those of coreai-opt, which compresses PyTorch modules, are named after its classes:
/// `KMeansPalettizer.yaml`, `MagnitudePruner.yaml` and `Quantizer.yaml`. `retint.yaml` has all of
/// them, as `QuantizationPlan.init(contentsOf:standard:activations:)` reads it.
public struct QuantizationSettings {
    private let weights: [(name: String, scheme: QuantizationScheme)]
    private let activations: SchemeSelection<ActivationScheme>
    private let coreAIOpt: CoreAIOptSettings
    /// The compressed weights that coreai-opt's configurations leave out: they do not have the name
    /// of a module's parameter, or it has no such compression.
    public var leftOutForCoreAIOpt: [String] { coreAIOpt.leftOut }

    /// The name of the file that retint reads.
    private static let whole = "retint.yaml"
    /// The name of the file of activations.
    private static let ofActivations = "linear_quantize_activations.yaml"
    /// The files of weights, the class of their settings, and these settings.
    private static let kinds: [Kind] = [
        ("prune_weights.yaml", "OpMagnitudePrunerConfig", { $0.prunerFields }),
        ("palettize_weights.yaml", "OpPalettizerConfig", { $0.palettizerFields }),
        ("linear_quantize_weights.yaml", "OpLinearQuantizerConfig", { $0.quantizerFields }),
    ]

    private typealias Kind = (
        file: String, type: String, fields: @Sendable (QuantizationScheme) -> [Field]?
    )

    /// - Parameters:
    ///   - plan: the plan.
    ///   - package: the package that was quantized.
    ///   - report: what the plan led to.
    public init(
        _ plan: QuantizationPlan, of package: MLPackage, _ report: QuantizationReport
    ) {
        let compressed = Set(report.compressed.map(\.name))
        weights = package.weights.filter { compressed.contains($0.name) }.compactMap { weight in
            plan.scheme(of: weight).map { (weight.name, $0) }
        }
        var activations = plan.activations
        let kept = Set(report.activations.filter { $0.scheme == nil }.map(\.name))
        for operation in package.program.operations where !operation.isConstant {
            let values = operation.inputs.values.joined().compactMap(\.name)
            guard values.contains(where: kept.contains) else { continue }
            activations.byName.updateValue(nil, forKey: operation.name)
        }
        self.activations = activations
        coreAIOpt = CoreAIOptSettings(
            package,
            schemes: Dictionary(
                weights.map { ($0, $1) }, uniquingKeysWith: { first, _ in first }),
            activations)
    }

    /// The texts of the files by their names; those that would have no settings are left out.
    ///
    /// - Throws: an error of the library that writes YAML.
    func texts() throws -> [String: String] {
        var texts: [String: String] = [:]
        for kind in Self.kinds {
            let configurations = weights.compactMap { name, scheme in
                kind.fields(scheme).map { (name, Node.flow($0 + [("weight_threshold", "0")])) }
            }
            guard !configurations.isEmpty else { continue }
            texts[kind.file] = try Self.text(
                [("config_type", Node(kind.type)), ("op_name_configs", .block(configurations))])
        }
        let sections = activations.sections(\.activationFields)
        if !activations.all.isEmpty {
            let type = ("config_type", Node("OpLinearQuantizerConfig"))
            texts[Self.ofActivations] = try Self.text(
                [type] + activations.sections(\.foreignActivationFields))
        }
        let own = weights.map { name, scheme in (name, Node.flow(scheme.ownFields)) }
        texts[Self.whole] = try Self.text(
            [("op_name_configs", .block(own))]
                + (activations.all.isEmpty ? [] : [("activations", .block(sections))]))
        return texts.merging(try coreAIOpt.texts()) { own, _ in own }
    }

    private static func text(_ sections: [(String, Node)]) throws -> String {
        try Yams.serialize(node: .block(sections), width: -1)
    }

    /// Writes the files into a folder, which may exist if it has such files alone.
    ///
    /// - Throws: `FileError` if the folder has other files, or cannot be written.
    public func write(to folder: some PathConvertible) throws {
        let texts = try texts()
        try AtomicFile.replace(folder, content: Self.content) { temporary in
            try createFolder(temporary)
            for (name, text) in texts {
                try AtomicFile.write(Array(text.utf8), to: "\(temporary)/\(name)")
            }
        }
    }

    /// Refuses a folder that ``write(to:)`` would not replace.
    public static func checkReplaceable(_ folder: some PathConvertible) throws(FileError) {
        try AtomicFile.checkReplaceable(folder, content)
    }

    private static let content = FolderContent(marker: whole) { name in
        name == whole || name == ofActivations || kinds.contains { $0.file == name }
            || CoreAIOptSettings.files.contains(name)
    }
}

/// A key of a configuration and its value.
private typealias Field = (key: String, value: String)

extension QuantizationScheme {
    /// coremltools' names of the settings of pruning; nil without it.
    fileprivate var prunerFields: [Field]? {
        guard isSparse else { return nil }
        let axis = chosenPruningAxis.map { [("dim", $0 == .output ? "0" : "1")] } ?? []
        switch pruning {
        case .single: return [("target_sparsity", "\(sparsity)")]
        case .blocks(let size):
            return [("target_sparsity", "\(sparsity)"), ("block_size", "\(size)")] + axis
        case .ratio(let zeros, let count): return [("n_m_ratio", "[\(zeros), \(count)]")] + axis
        }
    }

    /// Those of lookup tables; nil for other weights.
    fileprivate var palettizerFields: [Field]? {
        guard case .palette(let bits) = weights else { return nil }
        let group: [Field] =
            chosenGranularity == .perGroup
            ? [("granularity", "per_grouped_channel"), ("group_size", "\(blockSize)")]
            : [("granularity", "per_tensor")]
        return [("mode", paletteMode.rawValue), ("nbits", "\(bits)")] + group
    }

    /// Those of integers; nil for other weights.
    fileprivate var quantizerFields: [Field]? {
        guard weights.isInteger else { return nil }
        let granularity = chosenGranularity.rawValue.replacing("-", with: "_")
        return [
            ("mode", mode.configurationName), ("dtype", "\(weights)"), ("granularity", granularity),
        ] + (chosenGranularity == .perBlock ? [("block_size", "\(blockSize)")] : [])
    }

    /// All settings, as retint reads them.
    fileprivate var ownFields: [Field] {
        var pruner = prunerFields ?? []
        var fields = palettizerFields ?? quantizerFields ?? []
        if weights.hasBlocks {
            fields.removeAll { $0.key == "dtype" || $0.key == "nbits" }
            fields.insert(("weights", "\(weights)"), at: 0)
        } else if weights == .float16 {
            fields = [("weights", "float16")]
        } else {
            pruner.insert(("config_type", "OpMagnitudePrunerConfig"), at: 0)
        }
        // coremltools' block_size is that of integers here.
        if weights.hasBlocks, let index = pruner.firstIndex(where: { $0.key == "block_size" }) {
            pruner[index].key = "sparsity_block_size"
        }
        return fields + pruner + [("weight_threshold", "0")]
    }
}

extension QuantizationScheme.Mode {
    fileprivate var configurationName: String { self == .linear ? "linear" : "linear_symmetric" }
}

extension ActivationScheme {
    fileprivate var activationFields: [Field] {
        [("dtype", integers.rawValue), ("mode", mode.configurationName), ("range", "\(range)")]
    }

    /// coremltools' calibration knows one kind of range.
    fileprivate var foreignActivationFields: [Field] {
        [("dtype", integers.rawValue), ("mode", mode.configurationName)]
    }
}

extension SchemeSelection {
    /// The sections of a file.
    fileprivate func sections(_ fields: (Scheme) -> [Field]) -> [(String, Node)] {
        func configuration(_ scheme: Scheme?) -> Node {
            scheme.map { .flow(fields($0)) } ?? .null
        }
        func section(_ name: String, _ schemes: [String: Scheme?]) -> [(String, Node)] {
            let pairs = schemes.sorted { $0.key < $1.key }.map { ($0.key, configuration($0.value)) }
            return pairs.isEmpty ? [] : [(name, .block(pairs))]
        }
        return [("global_config", configuration(standard))]
            + section("op_type_configs", byType) + section("op_name_configs", byName)
    }
}

extension String {
    /// The elements of a list such as `[2, 4]`; nil for other values.
    fileprivate var list: [String]? {
        guard hasPrefix("["), hasSuffix("]") else { return nil }
        return dropFirst().dropLast().split(separator: ",").map {
            String($0.drop(while: \.isWhitespace))
        }
    }
}

extension Node {
    static var null: Node { Node("null", .implicit, .plain) }

    static func block(_ pairs: [(String, Node)]) -> Node {
        .mapping(Mapping(pairs.map { (Node($0), $1) }, .implicit, .block))
    }

    /// Settings in one line.
    static func flow(_ pairs: [(String, Node)]) -> Node {
        .mapping(Mapping(pairs.map { (Node($0), $1) }, .implicit, .flow))
    }

    fileprivate static func flow(_ fields: [Field]) -> Node {
        let pairs = fields.map { key, value -> (String, Node) in
            guard let list = value.list else { return (key, Node(value)) }
            return (key, .sequence(Sequence(list.map { Node($0) }, .implicit, .flow)))
        }
        return flow(pairs)
    }
}
