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
        }
    }

    private static func title(_ option: String) -> String {
        String(option.map { $0 == "_" ? " " : $0 })
    }
}

/// All architectures: the built-in ones, and those added by ``registerColorizer(_:)``.
private let architectures = Mutex<[any ColorizerNetwork.Type]>([
    ECCV16.self, SIGGRAPH17.self, ClassUNet.self, RepUNet.self, LiteUNet.self, LiteClassUNet.self,
    MobileUNet.self, PicoUNet.self,
])

var colorizerTypes: [any ColorizerNetwork.Type] { architectures.withLock { $0 } }

/// The names that ``makeColorizer(_:options:)`` takes, in the order of registration.
public var colorizerNames: [String] { colorizerTypes.map { $0.architecture } }

/// Registers an architecture under its name, for ``makeColorizer(_:options:)`` and so for all
/// commands: call it before them. An architecture of the same name is replaced.
public func registerColorizer(_ type: any ColorizerNetwork.Type) {
    architectures.withLock { known in
        known.removeAll { $0.architecture == type.architecture }
        known.append(type)
    }
}

private func colorizerType(_ name: String) -> (any ColorizerNetwork.Type)? {
    if name == ImportedColorizer.architecture { return ImportedColorizer.self }
    return colorizerTypes.first { $0.architecture == name }
}

/// Creates the colorizer with that name; parameters are named as in its state dict.
///
/// - Throws: ``ColorizerError`` for an unknown name, an option outside its range or one that the
///   architecture does not have.
public func makeColorizer(
    _ name: String, options: ColorizerOptions = .init()
) throws(ColorizerError) -> any ColorizerNetwork {
    guard let type = colorizerType(name) else { throw .unknownArchitecture(name) }
    guard options.definition != nil || name != ImportedColorizer.architecture else {
        throw .needsDefinition(name)
    }
    for option in ColorizerOptions.table { try option.check(options, for: type) }
    return type.init(options: options)
}
