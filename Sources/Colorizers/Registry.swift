import Layers
import Synchronization

/// Why a colorizer cannot be made.
public enum ColorizerError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownArchitecture(String)
    case widthOutOfRange(Double)
    case depthOutOfRange(Double)
    case decoderWidthOutOfRange(Double)
    case noDecoderWidth(String)
    case temperatureOutOfRange(Double)

    public var description: String {
        switch self {
        case .unknownArchitecture(let name):
            let known = colorizerNames.joined(separator: ", ")
            return "there is no architecture named \"\(name)\"; known are \(known)"
        case .widthOutOfRange(let width):
            return "width \(width) is out of range; choose one from 0.0625 to 4"
        case .depthOutOfRange(let depth):
            return "depth \(depth) is out of range; choose one from 0.25 to 4"
        case .decoderWidthOutOfRange(let width):
            return "decoder width \(width) is out of range; choose one from 0.0625 to 4"
        case .noDecoderWidth(let name):
            let names = scaledDecoders.joined(separator: ", ")
            return "\(name) has no decoder width of its own, only \(names) have; choose a width"
        case .temperatureOutOfRange(let temperature):
            return "temperature \(temperature) is out of range; choose one from 0.05 to 10"
        }
    }
}

/// All architectures: those of retint, and what ``registerColorizer(_:)`` adds.
private let architectures = Mutex<[any Colorizer.Type]>([
    ECCV16.self, SIGGRAPH17.self, ClassUNet.self, RepUNet.self, LiteUNet.self, LiteClassUNet.self,
    MobileUNet.self, PicoUNet.self,
])

/// The names that ``makeColorizer(_:options:)`` knows.
public var colorizerNames: [String] {
    architectures.withLock { $0.map { $0.architecture } }
}

/// Those whose decoder has a width of its own.
private var scaledDecoders: [String] {
    architectures.withLock { $0.filter { $0.scalesDecoder }.map { $0.architecture } }
}

/// Makes an architecture of your own known by its name, to ``makeColorizer(_:options:)`` and so to
/// all commands: call it before them. A second one of the same name replaces the first.
public func registerColorizer(_ type: any Colorizer.Type) {
    architectures.withLock { known in
        known.removeAll { $0.architecture == type.architecture }
        known.append(type)
    }
}

/// Makes the colorizer of that name, its parameters named as in its state dict.
///
/// - Throws: ``ColorizerError`` for an unknown name or an option outside its range.
public func makeColorizer(
    _ name: String, options: ColorizerOptions = .init()
) throws(ColorizerError) -> any Colorizer {
    let known = architectures.withLock { $0.first { $0.architecture == name } }
    guard let type = known else {
        throw .unknownArchitecture(name)
    }
    try options.requireRanges()
    if options.decoderWidth != 1, !type.scalesDecoder { throw .noDecoderWidth(name) }
    return type.init(options: options)
}

extension ColorizerOptions {
    fileprivate func requireRanges() throws(ColorizerError) {
        guard (0.0625...4).contains(width) else { throw .widthOutOfRange(width) }
        guard (0.25...4).contains(depth) else { throw .depthOutOfRange(depth) }
        guard (0.0625...4).contains(decoderWidth) else {
            throw .decoderWidthOutOfRange(decoderWidth)
        }
        if let temperature, !(0.05...10).contains(temperature) {
            throw .temperatureOutOfRange(temperature)
        }
    }
}
