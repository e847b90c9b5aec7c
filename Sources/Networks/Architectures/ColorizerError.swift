public import RetintFiles

/// Why a colorizer cannot be created.
public typealias ColorizerError = Refusal<ColorizerProblem>

/// What is asked of a colorizer that it cannot be.
public enum ColorizerProblem: RefusalKind {
    /// No architecture with that name is registered.
    case unknownArchitecture(String)
    /// An option has a value outside its range; all three as text.
    case outOfRange(option: String, value: String, range: String)
    /// A network that is read from a file was requested by name.
    case needsDefinition(String)
    /// An option was set that the architecture does not have.
    case unsupportedOption(String, architecture: String)
    /// No architecture has an option of that name.
    case unknownOption(String)
    /// The text of an option is not one of its values; all three as text.
    case invalidValue(option: String, text: String, values: String)
    /// A line of options does not have the form `name=value name=value`.
    case malformedOptions(String)

    /// The caller's.
    public var fault: Fault { .usage }

    /// The problem, and what to choose instead.
    fileprivate var text: String {
        switch self {
        case .unknownArchitecture(let name):
            let known = colorizerNames.joined(separator: ", ")
            return "there is no architecture named \"\(name)\"; the architectures are \(known)"
        case .needsDefinition(let name):
            return "\(name) is a network that was read from a file: start from its checkpoint, "
                + "which `retint import` creates from an .onnx file"
        case .outOfRange(let option, let value, let range):
            return "\(Self.title(option)) \(value) is out of range; choose one from \(range)"
        case .unsupportedOption(let name, let architecture):
            let option = ColorizerOptions.table.first { $0.name == name }
            let owners = option?.architectures.having.joined(separator: ", ") ?? ""
            return "\(architecture) has no \(Self.title(name)), only \(owners) have; "
                + "leave it at \(option?.defaultText ?? "null")"
        case .unknownOption(let name):
            let known = ColorizerOptions.table.map(\.name).sorted().joined(separator: ", ")
            return "there is no option named \(name.debugDescription); the options are \(known)"
        case .invalidValue(let option, let text, let values):
            return "option \(option) is \(text.debugDescription); it takes \(values)"
        case .malformedOptions(let line):
            return "\(line.debugDescription) is not a list of name=value"
        }
    }

    private static func title(_ option: String) -> String {
        String(option.map { $0 == "_" ? " " : $0 })
    }
}

extension ColorizerError {
    package init(_ kind: Kind) { self.init(kind, kind.text) }
}
