import RetintLayers
import RetintLocks

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
    guard let type = colorizerType(name) else { throw ColorizerError(.unknownArchitecture(name)) }
    guard options.definition != nil || name != ImportedColorizer.architecture else {
        throw ColorizerError(.needsDefinition(name))
    }
    for option in ColorizerOptions.table { try option.check(options, for: type) }
    return type.init(options: options)
}
