import RetintMLPackage
import Yams

/// What a quantization did to the weights and the inputs of each layer, as configurations of
/// coreai-opt, Apple's library that compresses PyTorch modules for Core AI.
///
/// It names modules, not operations: those whose parameters have the names of the package's
/// weights, as exporters of PyTorch give them. In such names, dots became underscores, so that a
/// pattern stands for both.
struct CoreAIOptSettings {
    private let layers: [Layer]
    /// The weights that were compressed, but not as one of coreai-opt's classes would compress the
    /// parameter of a module.
    let leftOut: [String]

    /// A parameter of a module, and what is done to it and to the module's inputs.
    fileprivate struct Layer {
        let module: String, parameter: String
        let axes: (output: Int, input: Int)
        let scheme: QuantizationScheme?
        let activation: ActivationScheme?
    }

    /// The files, the first key of each, and the settings of a parameter.
    private static let kinds: [Kind] = [
        ("KMeansPalettizer.yaml", "kmeans_palettization_config", palette),
        ("MagnitudePruner.yaml", "magnitude_pruning_config", pruning),
        ("Quantizer.yaml", "quantization_config", integers),
    ]

    private typealias Kind = (file: String, key: String, parameter: @Sendable (Layer) -> Node?)

    static let files = kinds.map(\.file)

    /// - Parameters:
    ///   - schemes: those of the compressed weights, by their names.
    init(
        _ package: MLPackage, schemes: [String: QuantizationScheme],
        _ activations: SchemeSelection<ActivationScheme>
    ) {
        let sites = ActivationSites(package, activations)
        let found = package.weights.map { weight in
            let input = weight.uses.lazy.compactMap { sites.first(of: $0.operation)?.scheme }.first
            return (weight.name, Layer(weight, schemes[weight.name], input))
        }
        layers = found.compactMap(\.1)
        leftOut = found.filter { name, layer in
            schemes[name] != nil
                && !Self.kinds.contains { kind in layer.flatMap(kind.parameter) != nil }
        }
        .map(\.0)
    }

    /// The texts of the files by their names; those that would have no settings are left out.
    func texts() throws -> [String: String] {
        let pairs = try Self.kinds.compactMap { kind in
            let takesInputs = kind.file == "Quantizer.yaml"
            let modules = layers.compactMap { layer in
                layer.settings(kind.parameter(layer), takesInputs: takesInputs)
            }
            guard !modules.isEmpty else { return nil as (String, String)? }
            // A module that is a number has to stay a text.
            let pairs = modules.map { (Node($0, Tag(.str), .singleQuoted), $1) }
            let configuration: [(String, Node)] = [
                ("global_config", .null),
                ("module_name_configs", .mapping(Node.Mapping(pairs, .implicit, .block))),
            ]
            let text = try Yams.serialize(
                node: .block([(kind.key, .block(configuration))]), width: -1)
            return (kind.file, text)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private static let integers: @Sendable (Layer) -> Node? = { layer in
        guard let scheme = layer.scheme, scheme.weights.hasBlocks, !scheme.weights.isPalette else {
            return nil
        }
        let granularity: [(String, Node)] =
            switch scheme.chosenGranularity {
            case .perBlock:
                [
                    ("type", "per_block"), ("axis", Node("\(layer.axes.input)")),
                    ("block_size", Node("\(scheme.blockSize)")),
                ]
            case .perChannel: [("type", "per_channel"), ("axis", Node("\(layer.axes.output)"))]
            default: [("type", "per_tensor")]
            }
        return .flow([
            ("dtype", Node("\(scheme.weights)")), ("qscheme", Node(scheme.mode.name)),
            ("granularity", .flow(granularity)),
        ])
    }

    /// It finds tables by k-means alone.
    private static let palette: @Sendable (Layer) -> Node? = { layer in
        guard let scheme = layer.scheme, case .palette(let bits) = scheme.weights,
            scheme.paletteMode == .kmeans
        else { return nil }
        let granularity: [(String, Node)] =
            scheme.chosenGranularity == .perGroup
            ? [
                ("type", "per_grouped_channel"), ("axis", Node("\(layer.axes.output)")),
                ("group_size", Node("\(scheme.blockSize)")),
            ] : [("type", "per_tensor")]
        return .flow([("n_bits", Node("\(bits)")), ("granularity", .flow(granularity))])
    }

    /// It prunes single elements, or whole channels.
    private static let pruning: @Sendable (Layer) -> Node? = { layer in
        guard let scheme = layer.scheme, scheme.isSparse, scheme.pruning == .single else {
            return nil
        }
        return .flow([("target_sparsity", Node("\(scheme.sparsity)"))])
    }
}

extension CoreAIOptSettings.Layer {
    /// - Returns: nil if the weight has no name of a parameter.
    fileprivate init?(
        _ weight: PackageWeight, _ scheme: QuantizationScheme?, _ activation: ActivationScheme?
    ) {
        guard let axes = weight.axes else { return nil }
        let name = weight.name.hasSuffix("_to_fp16") ? weight.name.dropLast(8) : weight.name[...]
        guard let parameter = Self.parameters.first(where: { name.hasSuffix($0) }) else {
            return nil
        }
        let path = name.dropLast(parameter.count)
        guard path.isEmpty || path.hasSuffix("_") || path.hasSuffix(".") else { return nil }
        // Names that would begin with a digit have an underscore before it.
        let isNumbered = path.hasPrefix("_") && path.dropFirst().first?.isNumber == true
        module = path.dropLast().dropFirst(isNumbered ? 1 : 0).map { character in
            switch character {
            case "_": "[._]"
            case ".": "[.]"
            default: "\(character)"
            }
        }.joined()
        (self.parameter, self.axes) = (parameter, axes)
        (self.scheme, self.activation) = (scheme, activation)
    }

    /// The names of parameters with weights.
    private static let parameters = ["in_proj_weight", "weight"]

    /// The settings of the module; nil without any.
    fileprivate func settings(_ parameter: Node?, takesInputs: Bool) -> (String, Node)? {
        let input = takesInputs ? activation : nil
        guard parameter != nil || input != nil else { return nil }
        var fields: [(String, Node)] = []
        if takesInputs {
            let integers = input.map { scheme in
                Node.flow([
                    ("dtype", Node(scheme.integers.rawValue)),
                    ("qscheme", Node(scheme.mode.name)),
                    ("granularity", .flow([("type", "per_tensor")])),
                ])
            }
            fields += [
                ("op_input_spec", integers.map { .flow([("*", $0)]) } ?? .null),
                ("op_output_spec", .null),
            ]
        }
        fields.append(
            ("op_state_spec", parameter.map { .flow([(self.parameter, $0)]) } ?? .null))
        return (module, .flow(fields))
    }
}

extension QuantizationScheme.Mode {
    /// coreai-opt's name of it.
    fileprivate var name: String { self == .linear ? "asymmetric" : "symmetric" }
}
