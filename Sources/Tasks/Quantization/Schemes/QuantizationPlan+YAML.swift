public import RetintFiles
import RetintMIL
import Yams

extension QuantizationPlan {
    /// Reads a YAML file with the keys of coremltools' `OptimizationConfig`: `config_type`,
    /// `global_config`, `op_type_configs`, `op_name_configs`. A configuration of null leaves
    /// weights uncompressed. Instead of `config_type`, a configuration may have `weights`: a name
    /// such as `int8` or `palette4`; `sparsity_block_size` is the block size of pruning beside one
    /// of integers. The key `activations` has a configuration of the same form for
    /// the inputs of operations, with `dtype`, `mode` and `range`.
    ///
    /// - Parameters:
    ///   - standard: the default scheme of weights if the file has no `global_config`.
    ///   - activations: that of the inputs of operations.
    /// - Throws: `FileError` if the file cannot be read; `ConversionError` with the line of a key
    ///   or value that is unknown or not supported.
    public init(
        contentsOf path: some PathConvertible, standard: QuantizationScheme?,
        activations: ActivationScheme? = nil
    ) throws {
        try self.init(
            yaml: readText(path, maximumBytes: 1 << 20), name: path.filePath.string,
            standard: standard, activations: activations)
    }

    init(
        yaml: String, name: String, standard: QuantizationScheme?,
        activations: ActivationScheme? = nil
    ) throws {
        self.init(standard, activations: activations)
        let root: Node?
        guard countYAMLAliases(yaml) <= maximumYAMLAliases else {
            throw ConversionError(
                file: name, place: "the file",
                rule: "it has more than \(maximumYAMLAliases) aliases",
                remedy: "Write their values out.")
        }
        do {
            root = try Yams.compose(yaml: yaml)
        } catch {
            throw ConversionError(
                file: name, place: "the file", rule: "it is not valid YAML: \(error)",
                remedy: "Correct it.")
        }
        if let root { try PlanReader(file: name).read(root, into: &self) }
    }
}

/// Reads a plan from the YAML nodes of a file.
private struct PlanReader {
    let file: String

    func read(_ root: Node, into plan: inout QuantizationPlan) throws {
        var sections = try pairs(root, of: "the file")
        let type = try sections.removeFirst(named: "config_type").map { try text($0.value) }
        if let activations = sections.removeFirst(named: "activations") {
            try read(
                pairs(activations.value, of: "activations"), into: &plan.activations,
                keys: "global_config, op_type_configs and op_name_configs", activationScheme)
        }
        try read(
            sections, into: &plan.weights,
            keys: "config_type, global_config, op_type_configs, op_name_configs and activations"
        ) { try scheme($0, type) }
    }

    private func read<Scheme>(
        _ sections: [(key: String, node: Node, value: Node)],
        into selection: inout SchemeSelection<Scheme>, keys: String,
        _ scheme: (Node) throws -> Scheme?
    ) throws {
        for (key, node, value) in sections {
            switch key {
            case "global_config": selection.standard = try scheme(value)
            case "op_type_configs":
                for (name, _, value) in try pairs(value, of: key) {
                    selection.byType.updateValue(try scheme(value), forKey: name)
                }
            case "op_name_configs":
                for (name, _, value) in try pairs(value, of: key) {
                    selection.byName.updateValue(try scheme(value), forKey: name)
                }
            default:
                throw error(node, "there is no key \(key)", "The keys are \(keys).")
            }
        }
    }

    private func isNull(_ node: Node) -> Bool {
        guard let scalar = node.scalar else { return false }
        return scalar.style == .plain && ["null", "~", ""].contains(scalar.string)
    }

    /// The scheme of one configuration of activations; nil for null.
    private func activationScheme(_ node: Node) throws -> ActivationScheme? {
        guard !isNull(node) else { return nil }
        var scheme = ActivationScheme()
        for field in try pairs(node, of: "a configuration") {
            switch field.key {
            case "dtype": scheme.integers = try value(field.value, ActivationScheme.Integers.init)
            case "mode": scheme.mode = try value(field.value, Self.mode)
            case "range": scheme.range = try value(field.value, ActivationScheme.Range.init)
            default:
                throw error(
                    field.node, "\(field.key) is not supported for activations",
                    "Omit it; retint takes dtype, mode and range.")
            }
        }
        return scheme
    }

    private static func mode(_ text: String) -> QuantizationScheme.Mode? {
        switch text.lowercased() {
        case "linear_symmetric", "symmetric": .symmetric
        case "linear": .linear
        default: nil
        }
    }

    /// The scheme of one configuration; nil for null.
    private func scheme(_ node: Node, _ type: String?) throws -> QuantizationScheme? {
        guard !isNull(node) else { return nil }
        var fields = try pairs(node, of: "a configuration")
        let own = try fields.removeFirst(named: "config_type").map { try text($0.value) } ?? type
        var scheme = QuantizationScheme(.int8)
        if let weights = fields.removeFirst(named: "weights") {
            scheme.weights = try value(weights.value, QuantizationScheme.Weights.init)
        } else {
            scheme = try Self.standard(
                own,
                error(
                    node,
                    own.map { "config_type \($0) is not known" }
                        ?? "the configuration has neither config_type nor weights",
                    "Give one of \(Self.types.joined(separator: ", "))."))
        }
        if own == Self.types[2], let size = fields.removeFirst(named: "block_size") {
            scheme.pruning = .blocks(of: try value(size.value) { Int($0) })
        }
        for field in fields { try read(field, into: &scheme) }
        return scheme
    }

    private static let types = [
        "OpLinearQuantizerConfig", "OpPalettizerConfig", "OpMagnitudePrunerConfig",
    ]

    private static func standard(
        _ type: String?, _ error: ConversionError
    ) throws -> QuantizationScheme {
        switch type {
        case types[0]: QuantizationScheme(.int8)
        case types[1]: QuantizationScheme(.palette(bits: 8))
        case types[2]: QuantizationScheme(.unchanged)
        default: throw error
        }
    }

    private func read(
        _ field: (key: String, node: Node, value: Node), into scheme: inout QuantizationScheme
    ) throws {
        let node = field.value
        switch field.key {
        case "dtype": scheme.weights = try value(node, QuantizationScheme.Weights.init)
        case "nbits":
            scheme.weights = try value(node) { QuantizationScheme.Weights("palette\($0)") }
        case "mode": try readMode(node, into: &scheme)
        case "granularity": scheme.granularity = try value(node, Self.granularity)
        case "block_size", "group_size": scheme.blockSize = try value(node) { Int($0) }
        case "target_sparsity", "sparsity": scheme.sparsity = try value(node) { Double($0) }
        case "n_m_ratio": scheme.pruning = try ratio(node)
        case "sparsity_block_size": scheme.pruning = .blocks(of: try value(node) { Int($0) })
        case "dim":
            scheme.chosenPruningAxis = try value(node) {
                ["0": QuantizationScheme.ChannelAxis.output, "1": .input][$0]
            }
        case "weight_threshold": scheme.threshold = try value(node) { Int($0) }
        case "palette_mode":
            scheme.paletteMode = try value(node, QuantizationScheme.PaletteMode.init)
        case "cluster_dim":
            _ = try value(node) { Int($0) == 1 ? 1 : nil }
        default:
            throw error(
                field.node, "\(field.key) is not supported",
                "Omit it; retint takes dtype, nbits, mode, granularity, block_size, "
                    + "group_size, target_sparsity, n_m_ratio, dim and weight_threshold.")
        }
    }

    private func readMode(_ node: Node, into scheme: inout QuantizationScheme) throws {
        let text = try text(node).lowercased()
        if let mode = Self.mode(text) {
            scheme.mode = mode
        } else if let mode = QuantizationScheme.PaletteMode(rawValue: text) {
            scheme.paletteMode = mode
        } else {
            throw error(
                node, "the mode \(text) is not supported",
                "Choose linear_symmetric, linear, kmeans or uniform.")
        }
    }

    /// n:m sparsity: `[2, 4]` for two of every four.
    private func ratio(_ node: Node) throws -> QuantizationScheme.Pruning {
        let values = node.sequence.map { $0.compactMap { $0.scalar.flatMap { Int($0.string) } } }
        guard let values, values.count == 2 else {
            throw error(node, "a ratio is a list of two integers", "Write it as [2, 4].")
        }
        guard values.allSatisfy((0...1 << 16).contains) else {
            throw error(node, "a ratio has numbers from 0 to 65536", "Write it as [2, 4].")
        }
        return .ratio(zeros: values[0], of: values[1])
    }

    private static func granularity(_ text: String) -> QuantizationScheme.Granularity? {
        switch text.replacing("_", with: "-") {
        case "per-grouped-channel": .perGroup
        case let name: .init(rawValue: name)
        }
    }

    // MARK: Nodes

    private func pairs(
        _ node: Node, of what: String
    ) throws -> [(key: String, node: Node, value: Node)] {
        guard let mapping = node.mapping else {
            throw error(
                node, "\(what) must be a mapping of keys to values",
                "Write one key per line.")
        }
        return mapping.map { ($0.key.scalar?.string ?? "?", $0.key, $0.value) }
    }

    private func text(_ node: Node) throws -> String {
        guard let scalar = node.scalar else {
            throw error(
                node, "the key takes a single value, not a list or a mapping", "Give one value.")
        }
        return scalar.string
    }

    private func value<Value>(_ node: Node, _ parse: (String) -> Value?) throws -> Value {
        let text = try text(node)
        guard let value = parse(text) else {
            throw error(
                node, "\(text) is not a valid value for this key",
                "Use the values of coremltools' OptimizationConfig.")
        }
        return value
    }

    private func error(_ node: Node, _ rule: String, _ remedy: String) -> ConversionError {
        var error = ConversionError(
            file: file, place: node.mark.map { "line \($0.line)" } ?? "the file", rule: rule,
            remedy: remedy)
        error.kind = .option
        return error
    }
}

extension [(key: String, node: Node, value: Node)] {
    /// Removes and returns the pair with this key; nil if there is none.
    fileprivate mutating func removeFirst(named key: String) -> Element? {
        firstIndex { $0.key == key }.map { remove(at: $0) }
    }
}
