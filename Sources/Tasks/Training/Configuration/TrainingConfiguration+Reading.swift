public import RetintFiles
import Yams

extension TrainingConfiguration {
    /// Reads a YAML file; keys that it does not contain keep their defaults.
    ///
    /// - Parameters:
    ///   - path: the file; nil: only the settings.
    ///   - settings: `key=value` pairs that take precedence. If they set `data.train` alone, the
    ///     file's `data.validation` is left out, which belongs to its own photos.
    ///   - isOfRun: whether the file is that of a run to continue, which validates on the same
    ///     photos wherever those to train on are now.
    /// - Throws: `FileError` if the file cannot be read, ``TrainingError`` for an unknown key, a
    ///   value out of range, or missing photos to train on.
    public init(
        contentsOf path: (some PathConvertible)?, settings: [String] = [], isOfRun: Bool = false
    ) throws {
        let name = path?.filePath.string
        let yaml = try name.map { try readText($0, maximumBytes: 1 << 20) } ?? ""
        try self.init(yaml: yaml, name: name ?? "configuration")
        func sets(_ key: String) -> Bool { settings.contains { $0.hasPrefix(key + "=") } }
        if sets("data.train"), !sets("data.validation"), !isOfRun { data.validation = nil }
        for setting in settings { try set(setting) }
        guard !data.train.isEmpty else {
            throw TrainingError(
                at: name ?? "", "data.train is missing; set it to a folder of photos")
        }
    }

    /// Reads YAML text; keys that it does not contain keep their defaults.
    ///
    /// - Parameter name: the name of the text in errors.
    /// - Throws: ``TrainingError`` for an unknown key or a value out of range.
    public init(yaml: String, name: String = "configuration") throws(TrainingError) {
        self.init()
        guard let root = try Self.compose(yaml, name) else { return }
        try read(root, prefix: "", name: name)
    }

    /// Sets a key from `key=value`; the value is written as in YAML, without quotes.
    ///
    /// The last of `steps` and `epochs` decides the length of the training.
    ///
    /// - Throws: ``TrainingError`` for an unknown key or a value out of range.
    public mutating func set(_ setting: String) throws(TrainingError) {
        guard let sign = setting.firstIndex(of: "=") else {
            throw TrainingError(
                .setting, "\(setting.debugDescription) is not key=value",
                remedies: [Remedy(.settings)])
        }
        let text = String(setting[setting.index(after: sign)...])
        let key = String(setting[..<sign])
        do {
            try set(key, to: Self.nulls.contains(text) ? nil : text)
        } catch {
            throw TrainingError(.setting, error.problem, remedies: [Remedy(.settings)])
        }
        if key == "steps" { epochs = nil }
    }

    private static let nulls: Set<String> = ["", "~", "null", "Null", "NULL"]

    private static func compose(_ yaml: String, _ name: String) throws(TrainingError) -> Node? {
        guard countYAMLAliases(yaml) <= maximumYAMLAliases else {
            throw TrainingError(
                at: name,
                "has more than \(maximumYAMLAliases) aliases: write their values out")
        }
        do {
            return try Yams.compose(yaml: yaml)
        } catch {
            throw TrainingError(at: name, "is not valid YAML: \(error)")
        }
    }

    private mutating func read(
        _ node: Node, prefix: String, name: String
    ) throws(TrainingError) {
        guard let mapping = node.mapping else {
            let subject = prefix.isEmpty ? "the file" : String(prefix.dropLast())
            throw TrainingError(at: Self.position(node, name), "\(subject) takes keys with values")
        }
        for (keyNode, value) in mapping {
            let key = prefix + (keyNode.scalar?.string ?? "?")
            if TrainingConfiguration.Field.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
                try read(value, prefix: key + ".", name: name)
            } else {
                do {
                    try read(value, key)
                } catch {
                    throw TrainingError(at: Self.position(keyNode, name), error.problem)
                }
            }
        }
    }

    private mutating func read(_ value: Node, _ key: String) throws(KeyError) {
        guard TrainingConfiguration.Field.all.contains(where: { $0.key == key }) else {
            throw .unknown(key)
        }
        guard let scalar = value.scalar else {
            throw KeyError(problem: "\(key) takes one value, not a list or keys")
        }
        let isNull = scalar.style == .plain && Self.nulls.contains(scalar.string)
        try set(key, to: isNull ? nil : scalar.string)
    }

    private mutating func set(_ key: String, to text: String?) throws(KeyError) {
        guard let field = TrainingConfiguration.Field.all.first(where: { $0.key == key }) else {
            throw .unknown(key)
        }
        guard field.read(&self, text) else {
            let value = text?.debugDescription ?? "null"
            throw KeyError(problem: "\(key) is \(value); it takes \(field.wanted)")
        }
    }

    /// The file with the line, if it is known.
    private static func position(_ node: Node, _ name: String) -> String {
        node.mark.map { "\(name):\($0.line)" } ?? name
    }
}

/// An invalid key or value, wherever it came from.
private struct KeyError: Error {
    let problem: String

    static func unknown(_ key: String) -> KeyError {
        let known = TrainingConfiguration.Field.all.map(\.key)
        let last = key.split(separator: ".").last.map(String.init) ?? key
        let meant =
            namesElsewhere[last].map { [$0] } ?? Spelling.similar(to: key, among: known)
        let question = meant.isEmpty ? "" : "did you mean \(meant.joined(separator: ", "))? "
        return KeyError(
            problem: "there is no key \(key); \(question)retint train --defaults prints all keys")
    }

    /// Keys by the names that they have in PyTorch, Lightning and timm.
    private static let namesElsewhere = [
        "lr": "optimizer.learning_rate", "wd": "optimizer.weight_decay",
        "num_workers": "data.loader_threads", "workers": "data.loader_threads",
        "batch_size": "batch", "max_steps": "steps", "max_epochs": "epochs",
        "max_time": "time_limit", "amp": "compute", "precision": "compute", "model": "architecture",
        "pretrained": "init", "checkpoint": "init", "output_dir": "output",
        "crop_size": "data.crop",
        "image_size": "data.crop", "warmup": "schedule.warmup_steps",
        "scheduler": "schedule.kind", "gradient_clip_val": "optimizer.clip_grad_norm",
        "accumulate_grad_batches": "accumulate", "grad_accum_steps": "accumulate",
    ]
}

extension TrainingConfiguration {
    /// All keys, in the order of the YAML file.
    public static var fields: [TrainingConfiguration.Field] { TrainingConfiguration.Field.all }

    /// The whole configuration as a YAML file, with each key's help as a comment.
    public var yaml: String {
        var (lines, section) = ([String](), "")
        for field in TrainingConfiguration.Field.all {
            let parts = field.key.split(separator: ".")
            if parts.count > 1, parts[0] != section {
                section = String(parts[0])
                lines.append("\(section):")
            }
            let indent = parts.count > 1 ? "  " : ""
            lines.append("\(indent)\(parts.last ?? ""): \(field.text(self))  # \(field.help)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Checks values that were set as properties.
    ///
    /// - Throws: ``TrainingError`` for the first one that is out of range.
    func requireValuesInRange() throws(TrainingError) {
        for field in TrainingConfiguration.Field.all where !field.isInRange(self) {
            throw TrainingError(
                at: field.key, "is \(field.text(self)); it takes \(field.wanted)")
        }
    }

    /// The keys whose values differ from those in `other`: `width: 0.5 (was 1)`.
    ///
    /// - Parameter keys: those to compare; nil: all.
    func differences(
        from other: TrainingConfiguration, in keys: Set<String>? = nil
    ) -> [String] {
        TrainingConfiguration.Field.all.compactMap { field in
            guard keys?.contains(field.key) != false else { return nil }
            let (new, old) = (field.text(self), field.text(other))
            return new == old ? nil : "\(field.key): \(new) (was \(old))"
        }
    }
}
