import Colorizers

extension ColorizerOptions {
    /// Reads options as a checkpoint keeps them: `width`, a number, and `class_head`, true or
    /// false.
    ///
    /// - Throws: ``CheckpointError`` for another name or a value that cannot be read.
    public init(_ texts: [String: String]) throws {
        self.init()
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "width": width = try Self.value(Double(text), name, text, "a number such as 0.5")
            case "class_head":
                hasClassHead = try Self.value(Bool(text), name, text, "true or false")
            default:
                throw CheckpointError(
                    .badOption,
                    problem: "there is no option named \(name.debugDescription); "
                        + "known are width and class_head")
            }
        }
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
        let standard = ColorizerOptions()
        var texts: [String: String] = [:]
        if width != standard.width { texts["width"] = "\(width)" }
        if hasClassHead != standard.hasClassHead { texts["class_head"] = "\(hasClassHead)" }
        return texts
    }
}
