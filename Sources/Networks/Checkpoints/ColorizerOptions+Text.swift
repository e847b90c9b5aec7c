import RetintArchitectures

extension ColorizerOptions {
    /// Reads options from their texts in a checkpoint, by name: `width`, `0.5`. Those that are
    /// missing keep their defaults.
    ///
    /// - Parameter definition: the network itself, if it is not in the registry.
    /// - Throws: ``CheckpointError`` for an unknown name or an invalid value.
    ///   Ranges are checked when the network is created.
    public init(
        _ texts: [String: String], definition: NetworkDefinition? = nil
    ) throws(CheckpointError) {
        self.init()
        self.definition = definition
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            guard let option = Self.table.first(where: { $0.name == name }) else {
                throw .unknownOption(name)
            }
            guard option.set(text == Self.null ? nil : text, in: &self) else {
                throw CheckpointError(
                    .badOption,
                    problem: "option \(name) is \(text.debugDescription); "
                        + "it takes \(option.values)")
            }
        }
    }

    /// The options other than defaults, as a checkpoint stores them, by name.
    public var texts: [String: String] {
        var texts: [String: String] = [:]
        for option in Self.table where option.text(in: self) != option.defaultText {
            texts[option.name] = option.text(in: self) ?? Self.null
        }
        return texts
    }

    /// The text of an option without a value.
    private static let null = "null"
}

extension CheckpointError {
    fileprivate static func unknownOption(_ name: String) -> CheckpointError {
        let known = ColorizerOptions.table.map(\.name).sorted().joined(separator: ", ")
        return CheckpointError(
            .badOption,
            problem: "there is no option named \(name.debugDescription); known are \(known)")
    }
}
