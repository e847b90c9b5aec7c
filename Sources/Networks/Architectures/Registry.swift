import RetintLayers
import RetintLocks

/// All architectures: the built-in ones, and those added by ``ColorizerArchitecture/register()``.
private let architectures = Mutex<[any ColorizerArchitecture.Type]>([
    ECCV16.self, SIGGRAPH17.self, ClassUNet.self, RepUNet.self, LiteUNet.self, LiteClassUNet.self,
    MobileUNet.self, PicoUNet.self,
])

var colorizerTypes: [any ColorizerArchitecture.Type] { architectures.withLock { $0 } }

/// The names of all architectures, in the order of registration.
public var colorizerNames: [String] { colorizerTypes.map { $0.architecture } }

extension ColorizerArchitecture {
    /// Registers this architecture under its name, for ``NetworkDescription/make()`` and so for all
    /// commands: call it before them. An architecture of the same name is replaced.
    public static func register() {
        architectures.withLock { known in
            known.removeAll { $0.architecture == architecture }
            known.append(self)
        }
    }
}

/// - Throws: ``ColorizerError`` for a name that is not registered.
func colorizerType(_ name: String) throws(ColorizerError) -> any ColorizerArchitecture.Type {
    if let type = colorizerTypes.first(where: { $0.architecture == name }) { return type }
    throw ColorizerError(
        name == ImportedColorizer.architecture
            ? .needsDefinition(name) : .unknownArchitecture(name))
}
