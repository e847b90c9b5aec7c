import Layers

/// Why a colorizer cannot be made.
public enum ColorizerError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownArchitecture(String)
    case widthOutOfRange(Double)

    public var description: String {
        switch self {
        case .unknownArchitecture(let name):
            let known = colorizerNames.joined(separator: ", ")
            return "there is no architecture named \"\(name)\"; known are \(known)"
        case .widthOutOfRange(let width):
            return "width \(width) is out of range; choose one from 0.0625 to 4"
        }
    }
}

private let architectures: [any Colorizer.Type] = [
    ECCV16.self, SIGGRAPH17.self, MobileUNet.self,
]

/// The names that ``makeColorizer(_:options:)`` knows.
public let colorizerNames = architectures.map { $0.architecture }

/// Makes the colorizer of that name, its parameters named as in its state dict.
///
/// - Throws: ``ColorizerError`` for an unknown name or a width outside 1/16…4.
public func makeColorizer(
    _ name: String, options: ColorizerOptions = .init()
) throws(ColorizerError) -> any Colorizer {
    guard let type = architectures.first(where: { $0.architecture == name }) else {
        throw .unknownArchitecture(name)
    }
    guard (0.0625...4).contains(options.width) else { throw .widthOutOfRange(options.width) }
    return type.init(options: options)
}
