import Files
import Yams

extension TrainingConfiguration {
    /// Reads a YAML file; keys that it does not name keep their defaults.
    ///
    /// - Parameter settings: `key=value` pairs that take precedence.
    /// - Throws: `FileError` if the file cannot be read, ``ConfigurationError`` for a key that
    ///   does not exist, a value that does not fit, or no photos to train on.
    package init(contentsOf path: String, settings: [String] = []) throws {
        let bytes = try readFile(path, maximumBytes: 1 << 20)
        try self.init(yaml: String(decoding: bytes, as: UTF8.self), name: path)
        for setting in settings { try set(setting) }
        guard !data.train.isEmpty else {
            throw ConfigurationError(path, "data.train is missing; name a folder of photos")
        }
    }

    init(yaml: String, name: String) throws(ConfigurationError) {
        self.init()
        guard let root = try Self.compose(yaml, name) else { return }
        try read(root, prefix: "", name: name)
    }

    /// Sets a key from `key=value`.
    package mutating func set(_ setting: String) throws(ConfigurationError) {
        guard let sign = setting.firstIndex(of: "=") else {
            throw ConfigurationError("--set", "\(setting.debugDescription) is not key=value")
        }
        let text = String(setting[setting.index(after: sign)...])
        let isNull = Self.nulls.contains(text)
        try set(String(setting[..<sign]), to: isNull ? nil : text, at: "--set")
    }

    private static let nulls: Set<String> = ["", "~", "null", "Null", "NULL"]

    private static func compose(_ yaml: String, _ name: String) throws(ConfigurationError) -> Node?
    {
        do {
            return try Yams.compose(yaml: yaml)
        } catch let error as YamlError {
            throw ConfigurationError(name, "is not valid YAML: \(error)")
        } catch {
            throw ConfigurationError(name, "is not valid YAML: \(error)")
        }
    }

    private mutating func read(
        _ node: Node, prefix: String, name: String
    ) throws(ConfigurationError) {
        guard let mapping = node.mapping else {
            let what = prefix.isEmpty ? "the file" : String(prefix.dropLast())
            throw ConfigurationError(Self.place(node, name), "\(what) takes keys with values")
        }
        for (keyNode, value) in mapping {
            let key = prefix + (keyNode.scalar?.string ?? "?")
            if ConfigurationField.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
                try read(value, prefix: key + ".", name: name)
            } else {
                try read(value, key, at: Self.place(keyNode, name))
            }
        }
    }

    private mutating func read(
        _ value: Node, _ key: String, at place: String
    ) throws(ConfigurationError) {
        guard ConfigurationField.all.contains(where: { $0.key == key }) else {
            throw .unknownKey(key, at: place)
        }
        guard let scalar = value.scalar else {
            throw ConfigurationError(place, "\(key) takes one value, not a list or keys")
        }
        let isNull = scalar.style == .plain && Self.nulls.contains(scalar.string)
        try set(key, to: isNull ? nil : scalar.string, at: place)
    }

    private mutating func set(
        _ key: String, to text: String?, at place: String
    ) throws(ConfigurationError) {
        guard let field = ConfigurationField.all.first(where: { $0.key == key }) else {
            throw .unknownKey(key, at: place)
        }
        guard field.read(&self, text) else {
            throw ConfigurationError(
                place, "\(key) is \(text?.debugDescription ?? "null"); it takes \(field.wanted)")
        }
    }

    private static func place(_ node: Node, _ name: String) -> String {
        node.mark.map { "\(name):\($0.line)" } ?? name
    }
}

extension TrainingConfiguration {
    /// The whole configuration as a YAML file, with what each key means.
    package var yaml: String {
        var (lines, section) = ([String](), "")
        for field in ConfigurationField.all {
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

    /// Which keys have other values than in `other`: `width: 0.5 (was 1)`.
    package func differences(from other: TrainingConfiguration) -> [String] {
        ConfigurationField.all.compactMap { field in
            let (new, old) = (field.text(self), field.text(other))
            return new == old ? nil : "\(field.key): \(new) (was \(old))"
        }
    }
}
