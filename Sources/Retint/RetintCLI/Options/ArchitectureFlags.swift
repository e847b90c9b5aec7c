import ArgumentParser
import Retint
import RetintNetworks

/// A flag for each of the architectures' options.
///
/// ArgumentParser finds a type's flags by its mirror, and reads them by its decoder; both are built
/// here from the options' table.
struct ArchitectureFlags: ParsableArguments, CustomReflectable {
    /// The texts of the options that were given, by name.
    private var texts: [String: String] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: OptionKey.self)
        for option in ColorizerOptions.table {
            texts[option.name] = try option.givenText(in: container)
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: ColorizerOptions.table.map { ($0.name, $0.argument) })
    }

    /// Throws a usage error if options were given, because a file has its own.
    func refuse(for file: String) throws {
        guard let name = texts.keys.min() else { return }
        throw CommandError(
            .usage,
            "\(file): a file has its own \(name); name an architecture to choose another")
    }

    /// The network with the options that were given; an imported one has none.
    func applied(to network: NetworkDescription) -> NetworkDescription {
        guard case .named(let name, var options) = network else { return network }
        for option in ColorizerOptions.table {
            if let text = texts[option.name] { _ = option.set(text, in: &options) }
        }
        return .named(name, options)
    }
}

/// The name of an option, as the key of its flag.
private struct OptionKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension ArchitectureOption {
    /// Whether it is true or false: a flag without a value, which sets the opposite of the default.
    private var isSwitch: Bool { range == nil }

    private var isOnByDefault: Bool { defaultText == "true" }

    private var flagName: NameSpecification {
        let words = String(name.map { $0 == "_" ? "-" : $0 })
        return .customLong(isSwitch && isOnByDefault ? "no-\(words)" : words)
    }

    /// The property wrapper that ArgumentParser reads.
    fileprivate var argument: Any {
        if isSwitch {
            return Flag(wrappedValue: false, name: flagName, help: ArgumentHelp(flagHelp))
        }
        return Option<String?>(name: flagName, help: ArgumentHelp(flagHelp)) { text in
            var options = ColorizerOptions()
            guard set(text, in: &options) else { throw ValidationError("it takes \(values)") }
            return text
        }
    }

    /// "A factor for the number of channels, 0.0625 to 4."
    private var flagHelp: String {
        guard let range else {
            return "\(isOnByDefault ? "Without" : "With") \(meaning)\(owners)."
        }
        let fallback = nullMeaning.map { "; default: \($0)" } ?? ""
        let sentence = "\(meaning.prefix(1).uppercased())\(meaning.dropFirst())"
        return "\(sentence), \(range)\(owners)\(fallback)."
    }

    fileprivate func givenText(
        in container: KeyedDecodingContainer<OptionKey>
    ) throws -> String? {
        let key = OptionKey(stringValue: name)
        guard isSwitch else {
            return try container.decode(Option<String?>.self, forKey: key).wrappedValue
        }
        let isGiven = try container.decode(Flag<Bool>.self, forKey: key).wrappedValue
        return isGiven ? "\(!isOnByDefault)" : nil
    }
}
