import RetintEngine

/// A type that a key of a configuration can have.
protocol ConfigurationValue {
    /// A description for errors: "a whole number".
    static var wanted: String { get }
    init?(configurationText text: String)
    /// The text in a YAML file.
    var configurationText: String { get }
}

extension Int: ConfigurationValue {
    static var wanted: String { "a whole number" }
    init?(configurationText text: String) { self.init(text) }
    var configurationText: String { "\(self)" }
}

extension Double: ConfigurationValue {
    static var wanted: String { "a number" }
    init?(configurationText text: String) { self.init(text) }
    var configurationText: String { "\(self)" }
}

extension Bool: ConfigurationValue {
    static var wanted: String { "true or false" }
    init?(configurationText text: String) { self.init(text) }
    var configurationText: String { "\(self)" }
}

extension String: ConfigurationValue {
    static var wanted: String { "a text" }
    init?(configurationText text: String) { self = text }

    var configurationText: String {
        let isPlain = allSatisfy { $0.isASCII && ($0.isLetter || "_./-".contains($0)) }
        let isReserved = ["", "true", "false", "null", "yes", "no", "on", "off", "-", "."]
            .contains(lowercased())
        return isPlain && !isReserved && !hasPrefix("-") ? self : quoted
    }

    /// In double quotes, as in YAML and JSON.
    private var quoted: String {
        let escaped = unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case "\n": "\\n"
            case "\t": "\\t"
            default: scalar.isPrintedInYAML ? String(scalar) : scalar.escapedForYAML
            }
        }
        return "\"\(escaped.joined())\""
    }
}

extension Unicode.Scalar {
    /// What is no control character, and no line break, which YAML reads as a space.
    fileprivate var isPrintedInYAML: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028...0x2029, 0xfeff, 0xfffe...0xffff: false
        default: true
        }
    }

    /// As in YAML and JSON, for scalars of 16 bits.
    fileprivate var escapedForYAML: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

/// A type whose values are a few words.
extension ConfigurationValue
where Self: CaseIterable & RawRepresentable, RawValue == String {
    static var wanted: String { allCases.map(\.rawValue).joined(separator: ", ") }
    init?(configurationText text: String) { self.init(rawValue: text) }
    var configurationText: String { rawValue }
}

extension TrainingConfiguration.Quantization: ConfigurationValue {}
extension TrainingConfiguration.BatchNorm: ConfigurationValue {}
extension TrainingConfiguration.GradientCompression: ConfigurationValue {}
extension Arithmetic: ConfigurationValue {
    static var wanted: String { (allCases.map(\.rawValue) + [automatic]).joined(separator: ", ") }

    /// The fastest format on this CPU, as on the command line. Runs record which one that was.
    private static let automatic = "auto"

    init?(configurationText text: String) {
        guard let format = text == Self.automatic ? Self.fastest : Self(rawValue: text) else {
            return nil
        }
        self = format
    }
}
extension Execution.Device: ConfigurationValue {
    static var wanted: String { "cpu, cuda, cuda: with an index, or reference" }
}
extension TrainingConfiguration.FeatureDistillation.Comparison: ConfigurationValue {}
extension TrainingConfiguration.LossSettings.Kind: ConfigurationValue {}
extension TrainingConfiguration.OptimizerSettings.Kind: ConfigurationValue {}
extension TrainingConfiguration.ScheduleSettings.Kind: ConfigurationValue {}

/// Which values of its type a key allows.
struct ConfigurationRule<Value: ConfigurationValue> {
    let wanted: String
    /// What is between the items of a value that may also be written as a YAML list; nil: it may
    /// not.
    var separator: String?
    let allows: (Value) -> Bool

    static var any: ConfigurationRule { ConfigurationRule(wanted: Value.wanted) { _ in true } }

    static func words(_ words: [String]) -> ConfigurationRule where Value == String {
        ConfigurationRule(wanted: words.joined(separator: ", "), allows: words.contains)
    }

    static func path(_ what: String) -> ConfigurationRule where Value == String {
        ConfigurationRule(wanted: what) { !$0.isEmpty }
    }

    /// Names in one text, separated by spaces, or in a YAML list.
    static func names(_ what: String) -> ConfigurationRule where Value == String {
        ConfigurationRule(
            wanted: "\(what), separated by spaces or in a list", separator: " "
        ) { !$0.isEmpty }
    }
}

extension ConfigurationRule where Value: Comparable {
    static func range(_ range: ClosedRange<Value>) -> ConfigurationRule {
        let bounds =
            "\(range.lowerBound.configurationText) to \(range.upperBound.configurationText)"
        return ConfigurationRule(
            wanted: "\(Value.wanted) from \(bounds)", allows: range.contains)
    }
}
