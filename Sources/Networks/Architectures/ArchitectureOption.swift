/// A row of ``ColorizerOptions/table``: an option's name, values, help and text form.
public struct ArchitectureOption: Sendable {
    package typealias Path<Value> = WritableKeyPath<ColorizerOptions, Value> & Sendable

    /// Its name in checkpoints and configurations: `decoder_width`.
    public let name: String
    /// A description for help: `a factor for the number of channels`.
    public let meaning: String
    /// The allowed values, to follow "takes": `a number from 0.25 to 4, or null`.
    public let values: String
    /// The range of a number: `0.25 to 4`; nil for a Boolean.
    public let range: String?
    /// What null means, to follow "null:": `the architecture's own`; nil if it cannot be null.
    public let nullMeaning: String?
    /// Whether a network can be trained with it, so that a configuration has a key for it.
    package let isTrainable: Bool

    private let path: PartialKeyPath<ColorizerOptions> & Sendable
    /// Whether architectures without the option refuse it; otherwise they ignore it.
    private let isRequired: Bool
    private let read: @Sendable (String?, inout ColorizerOptions) -> Bool
    private let write: @Sendable (ColorizerOptions) -> String?
    private let allows: @Sendable (ColorizerOptions) -> Bool
}

extension ArchitectureOption {
    /// - Parameter isRequired: whether architectures without the option refuse values other than
    ///   the default; otherwise they ignore it.
    static func number<Value: Comparable & LosslessStringConvertible & Sendable>(
        _ name: String, _ path: Path<Value>, in range: ClosedRange<Value>, _ meaning: String,
        isRequired: Bool = false
    ) -> ArchitectureOption {
        ArchitectureOption(
            name: name, meaning: meaning, values: values(range), range: text(range),
            nullMeaning: nil, isTrainable: true, path: path, isRequired: isRequired,
            read: { text, options in
                guard let value = text.flatMap(Value.init) else { return false }
                options[keyPath: path] = value
                return true
            },
            write: { "\($0[keyPath: path])" },
            allows: { range.contains($0[keyPath: path]) })
    }

    /// A number that can be null.
    static func number<Value: Comparable & LosslessStringConvertible & Sendable>(
        _ name: String, optional path: Path<Value?>, in range: ClosedRange<Value>,
        _ meaning: String, null: String = "the architecture's own", isRequired: Bool = false
    ) -> ArchitectureOption {
        ArchitectureOption(
            name: name, meaning: meaning, values: "\(values(range)), or null", range: text(range),
            nullMeaning: null, isTrainable: true, path: path, isRequired: isRequired,
            read: { text, options in
                let value = text.flatMap(Value.init)
                guard text == nil || value != nil else { return false }
                options[keyPath: path] = value
                return true
            },
            write: { $0[keyPath: path].map { "\($0)" } },
            allows: { $0[keyPath: path].map(range.contains) ?? true })
    }

    static func flag(
        _ name: String, _ path: Path<Bool>, _ meaning: String, isTrainable: Bool = true
    ) -> ArchitectureOption {
        ArchitectureOption(
            name: name, meaning: meaning, values: "true or false", range: nil, nullMeaning: nil,
            isTrainable: isTrainable, path: path, isRequired: false,
            read: { text, options in
                guard let value = text.flatMap(Bool.init) else { return false }
                options[keyPath: path] = value
                return true
            },
            write: { "\($0[keyPath: path])" }, allows: { _ in true })
    }

    private static func text<Value>(_ range: ClosedRange<Value>) -> String {
        "\(text(range.lowerBound)) to \(text(range.upperBound))"
    }

    /// A bound, without a fraction for whole numbers.
    private static func text<Value>(_ bound: Value) -> String {
        let text = "\(bound)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func values<Value>(_ range: ClosedRange<Value>) -> String {
        let kind = Value.self is any BinaryInteger.Type ? "a whole number" : "a number"
        return "\(kind) from \(text(range))"
    }
}

extension ArchitectureOption {
    /// The value as text; nil for null.
    package func text(in options: ColorizerOptions) -> String? { write(options) }

    /// The default value as text; nil for null.
    public var defaultText: String? { text(in: ColorizerOptions()) }

    /// Sets the value from its text, nil for null; returns false if the text is invalid. The
    /// range is not checked.
    public func set(_ text: String?, in options: inout ColorizerOptions) -> Bool {
        read(text, &options)
    }

    package func isInRange(_ options: ColorizerOptions) -> Bool { allows(options) }

    /// The architectures that have it, to follow its meaning; empty if all do.
    public var owners: String {
        let (having, lacking) = architectures
        if lacking.isEmpty { return "" }
        return having.count <= lacking.count
            ? " (\(having.joined(separator: ", ")))" : " (not \(lacking.joined(separator: ", ")))"
    }

    /// The architectures that have it, and those that do not.
    var architectures: (having: [String], lacking: [String]) {
        let types = colorizerTypes
        let having = types.filter(isOption).map { $0.architecture }
        return (having, types.map { $0.architecture }.filter { !having.contains($0) })
    }

    private func isOption(of type: any ColorizerArchitecture.Type) -> Bool {
        type.options.contains(path)
    }

    /// Throws if the value is out of range, or the architecture lacks the option and must have it.
    func check(_ options: ColorizerOptions, for type: any ColorizerArchitecture.Type)
        throws(ColorizerError)
    {
        let text = text(in: options)
        if let range, !allows(options) {
            throw ColorizerError(
                .outOfRange(option: name, value: text ?? "null", range: range))
        }
        if isRequired, text != defaultText, !isOption(of: type) {
            throw ColorizerError(.unsupportedOption(name, architecture: type.architecture))
        }
    }
}
