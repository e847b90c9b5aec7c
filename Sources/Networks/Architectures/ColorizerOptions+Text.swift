/// The text form of options, in checkpoints, packages, configurations and reports.
extension ColorizerOptions {
    /// Reads options from their texts by name: `width`, `0.5`. Those that are missing keep their
    /// defaults.
    ///
    /// - Throws: ``ColorizerError`` for an unknown name or an invalid value. Ranges are checked
    ///   when the network is created.
    public init(_ texts: [String: String]) throws(ColorizerError) {
        self.init()
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            guard let option = Self.table.first(where: { $0.name == name }) else {
                throw ColorizerError(.unknownOption(name))
            }
            guard option.set(text == Self.null ? nil : text, in: &self) else {
                throw ColorizerError(.invalidValue(option: name, text: text, values: option.values))
            }
        }
    }

    /// The options other than defaults, by name: `width`, `0.5`.
    public var texts: [String: String] {
        var texts: [String: String] = [:]
        for option in Self.table where option.text(in: self) != option.defaultText {
            texts[option.name] = option.text(in: self) ?? Self.null
        }
        return texts
    }

    /// The text of an option without a value.
    private static let null = "null"

    /// Reads options from one line: `class_head=false width=0.5`.
    ///
    /// - Throws: ``ColorizerError`` for a line of another form, and the errors of ``init(_:)``.
    package init(line: String) throws(ColorizerError) {
        var texts: [String: String] = [:]
        for option in line.split(separator: " ") {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, texts.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw ColorizerError(.malformedOptions(line))
            }
        }
        try self.init(texts)
    }

    /// ``texts`` in one line, sorted by name: `class_head=false width=0.5`.
    package var line: String {
        texts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}

/// Options are encoded as ``texts``.
extension ColorizerOptions: Codable {
    /// Decodes options.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let texts = try container.decode([String: String].self)
        do {
            try self.init(texts)
        } catch {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: error.description)
        }
    }

    /// Encodes the options other than defaults.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(texts)
    }
}
