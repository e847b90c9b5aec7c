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
    ///   value out of range, missing photos to train on, or distillation without a teacher.
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
        try requireTeacher()
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
            try read(text, key)
        } catch {
            throw TrainingError(.setting, error.problem, remedies: [Remedy(.settings)])
        }
        note(.setting, of: key)
        if key == "steps" { epochs = nil }
    }

    /// Reads a value without quotes; a list is one only for a key that takes several items.
    private mutating func read(_ text: String, _ key: String) throws(KeyError) {
        let field = TrainingConfiguration.Field.all.first { $0.key == key }
        if field?.separator != nil, text.hasPrefix("["),
            let list = try? Self.compose(text, key), list.sequence != nil
        {
            return try read(list, key)
        }
        try set(key, to: Self.nulls.contains(text) ? nil : text)
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
        } catch let error as YamlError {
            throw error.refusal(of: name)
        } catch {
            throw TrainingError(at: name, "is not valid YAML: \(error)")
        }
    }

    private mutating func read(
        _ node: Node, prefix: String, name: String
    ) throws(TrainingError) {
        guard let mapping = node.mapping else {
            throw TrainingError(
                at: Self.position(node, name),
                prefix.isEmpty
                    ? "the file takes keys with values; retint train --defaults prints all keys"
                    : KeyError.group(String(prefix.dropLast())).problem)
        }
        for (keyNode, value) in mapping {
            let position = Self.position(keyNode, name)
            guard let word = keyNode.scalar?.string else {
                throw TrainingError(at: position, "a key is one name, not a list or keys")
            }
            let key = prefix + word
            if !TrainingConfiguration.Field.keys(ofGroup: key).isEmpty {
                try read(value, prefix: key + ".", name: name)
                continue
            }
            // A key may stand in its group and with its whole name.
            if case .file(let first) = origins[key] {
                throw TrainingError(
                    at: position, "\(key) has a value in \(first) already; keep one of them")
            }
            do {
                try read(value, key)
            } catch {
                throw TrainingError(at: position, error.problem)
            }
            note(.file(position), of: key)
        }
    }

    private mutating func read(_ value: Node, _ key: String) throws(KeyError) {
        guard let field = TrainingConfiguration.Field.all.first(where: { $0.key == key }) else {
            throw .unknown(key)
        }
        if let separator = field.separator, let items = value.sequence {
            let words = try Self.words(items, key)
            return try set(key, to: words.isEmpty ? nil : words.joined(separator: separator))
        }
        guard let scalar = value.scalar else {
            let kind = value.sequence == nil ? "keys" : "a list"
            throw KeyError(problem: "\(key) takes one value, not \(kind): \(field.wanted)")
        }
        try set(key, to: Self.isNull(scalar) ? nil : scalar.string)
    }

    private static func words(
        _ items: Node.Sequence, _ key: String
    ) throws(KeyError) -> [String] {
        var words: [String] = []
        for item in items {
            guard let scalar = item.scalar, !isNull(scalar) else {
                throw KeyError(
                    problem: "an item of the list of \(key) is no text; put it in quotes if it "
                        + "contains a colon")
            }
            words.append(scalar.string)
        }
        return words
    }

    private static func isNull(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && nulls.contains(scalar.string)
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

    /// A value for a group of keys.
    static func group(_ name: String) -> KeyError {
        let keys = TrainingConfiguration.Field.keys(ofGroup: name).prefix(3)
        return KeyError(
            problem: "\(name) takes keys with values, such as \(keys.joined(separator: ", ")); "
                + "retint train --defaults prints all keys")
    }

    static func unknown(_ key: String) -> KeyError {
        guard TrainingConfiguration.Field.keys(ofGroup: key).isEmpty else { return group(key) }
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
