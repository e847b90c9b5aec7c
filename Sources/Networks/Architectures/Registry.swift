import RetintLayers
import RetintLocks

/// Why a colorizer cannot be created.
public enum ColorizerError: Error, Hashable, Sendable, CustomStringConvertible {
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

    /// The problem, and what to choose instead.
    public var description: String {
        switch self {
        case .unknownArchitecture(let name):
            let known = colorizerNames.joined(separator: ", ")
            return "there is no architecture named \"\(name)\"; known are \(known)"
        case .needsDefinition(let name):
            return "\(name) is a network that was read from a file: start from its checkpoint, "
                + "which `retint import` makes of an .onnx file"
        case .outOfRange(let option, let value, let range):
            return "\(Self.title(option)) \(value) is out of range; choose one from \(range)"
        case .unsupportedOption(let name, let architecture):
            let option = ColorizerOptions.table.first { $0.name == name }
            let owners = option?.architectures.having.joined(separator: ", ") ?? ""
            return "\(architecture) has no \(Self.title(name)), only \(owners) have; "
                + "leave it at \(option?.defaultText ?? "null")"
        case .unknownOption(let name):
            let known = ColorizerOptions.table.map(\.name).sorted().joined(separator: ", ")
            return "there is no option named \(name.debugDescription); known are \(known)"
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

/// All architectures: the built-in ones, and those added by ``registerColorizer(_:)``.
private let architectures = Mutex<[any ColorizerArchitecture.Type]>([
    ECCV16.self, SIGGRAPH17.self, ClassUNet.self, RepUNet.self, LiteUNet.self, LiteClassUNet.self,
    MobileUNet.self, PicoUNet.self,
])

var colorizerTypes: [any ColorizerArchitecture.Type] { architectures.withLock { $0 } }

/// The names of all architectures, in the order of registration.
public var colorizerNames: [String] { colorizerTypes.map { $0.architecture } }

/// Registers an architecture under its name, for ``NetworkDescription/make()`` and so for all
/// commands: call it before them. An architecture of the same name is replaced.
public func registerColorizer(_ type: any ColorizerArchitecture.Type) {
    architectures.withLock { known in
        known.removeAll { $0.architecture == type.architecture }
        known.append(type)
    }
}

/// - Throws: ``ColorizerError`` for a name that is not registered.
func colorizerType(_ name: String) throws(ColorizerError) -> any ColorizerArchitecture.Type {
    if let type = colorizerTypes.first(where: { $0.architecture == name }) { return type }
    throw name == ImportedColorizer.architecture
        ? .needsDefinition(name) : .unknownArchitecture(name)
}
