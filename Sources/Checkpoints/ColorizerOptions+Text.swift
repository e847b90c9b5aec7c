import Colorizers

extension ColorizerOptions {
    /// Reads options as a checkpoint keeps them: `width`, `depth`, `decoder_width`, `temperature` and
    /// `saturation`, numbers; `class_head` and `folded`, true or false.
    ///
    /// - Throws: ``CheckpointError`` for another name or a value that cannot be read.
    public init(_ texts: [String: String]) throws {
        self.init()
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "width": width = try Self.number(text, name)
            case "depth": depth = try Self.number(text, name)
            case "decoder_width": decoderWidth = try Self.number(text, name)
            case "temperature": temperature = try Self.number(text, name)
            case "saturation": saturation = try Self.number(text, name)
            case "class_head": hasClassHead = try Self.flag(text, name)
            case "folded": isFolded = try Self.flag(text, name)
            default:
                let known = ColorizerOptions().allTexts.keys.sorted().joined(separator: ", ")
                throw CheckpointError(
                    .badOption,
                    problem: "there is no option named \(name.debugDescription); known are \(known)"
                )
            }
        }
    }

    private static func number(_ text: String, _ name: String) throws -> Double {
        try value(Double(text), name, text, "a number such as 0.5")
    }

    private static func flag(_ text: String, _ name: String) throws -> Bool {
        try value(Bool(text), name, text, "true or false")
    }

    private static func value<Value>(
        _ value: Value?, _ name: String, _ text: String, _ wanted: String
    ) throws -> Value {
        guard let value else {
            throw CheckpointError(
                .badOption,
                problem: "option \(name) is \(text.debugDescription); it takes \(wanted)")
        }
        return value
    }

    /// The options that are not the default, as a checkpoint keeps them.
    public var texts: [String: String] {
        let standard = ColorizerOptions().allTexts
        return allTexts.filter { standard[$0.key] != $0.value }
    }

    private var allTexts: [String: String] {
        [
            "width": "\(width)", "depth": "\(depth)", "decoder_width": "\(decoderWidth)",
            "temperature": temperature.map { "\($0)" } ?? "null", "saturation": "\(saturation)",
            "class_head": "\(hasClassHead)", "folded": "\(isFolded)",
        ]
    }
}
