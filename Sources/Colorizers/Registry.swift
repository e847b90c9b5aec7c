import Layers
import Synchronization

/// Why a colorizer cannot be made.
public enum ColorizerError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownArchitecture(String)
    /// An option by its name, its value, and what it can be.
    case outOfRange(String, Double, ClosedRange<Double>)
    case noDecoderWidth(String)
    case noSaturation(String)

    public var description: String {
        switch self {
        case .unknownArchitecture(let name):
            let known = colorizerNames.joined(separator: ", ")
            return "there is no architecture named \"\(name)\"; known are \(known)"
        case .outOfRange(let option, let value, let range):
            return "\(option) \(value) is out of range; choose one from \(range.lowerBound) to "
                + "\(range.upperBound)"
        case .noDecoderWidth(let name):
            let names = names { $0.scalesDecoder }
            return "\(name) has no decoder width of its own, only \(names) have; choose a width"
        case .noSaturation(let name):
            let names = names { $0.annealsMean }
            return "\(name) has no saturation, only \(names) have, whose color is the mean of a "
                + "distribution; leave it at 1"
        }
    }
}

/// All architectures: those of retint, and what ``registerColorizer(_:)`` adds.
private let architectures = Mutex<[any ColorizerNetwork.Type]>([
    ECCV16.self, SIGGRAPH17.self, ClassUNet.self, RepUNet.self, LiteUNet.self, LiteClassUNet.self,
    MobileUNet.self, PicoUNet.self,
])

/// The names that ``makeColorizer(_:options:)`` knows.
public var colorizerNames: [String] {
    architectures.withLock { $0.map { $0.architecture } }
}

/// Those of which something holds, for a sentence.
private func names(where holds: (any ColorizerNetwork.Type) -> Bool) -> String {
    architectures.withLock { $0.filter(holds).map { $0.architecture } }.joined(separator: ", ")
}

/// Makes an architecture of your own known by its name, to ``makeColorizer(_:options:)`` and so to
/// all commands: call it before them. A second one of the same name replaces the first.
public func registerColorizer(_ type: any ColorizerNetwork.Type) {
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
) throws(ColorizerError) -> any ColorizerNetwork {
    let known = architectures.withLock { $0.first { $0.architecture == name } }
    guard let type = known else {
        throw .unknownArchitecture(name)
    }
    try options.requireRanges()
    if options.decoderWidth != 1, !type.scalesDecoder { throw .noDecoderWidth(name) }
    if options.saturation != 1, !type.annealsMean { throw .noSaturation(name) }
    return type.init(options: options)
}

extension ColorizerOptions {
    fileprivate func requireRanges() throws(ColorizerError) {
        let ranges: [(String, Double?, ClosedRange<Double>)] = [
            ("width", width, 0.0625...4), ("depth", depth, 0.25...4),
            ("decoder width", decoderWidth, 0.0625...4), ("temperature", temperature, 0.05...10),
            ("saturation", saturation, 0...4),
        ]
        for case (let name, let value?, let range) in ranges where !range.contains(value) {
            throw .outOfRange(name, value, range)
        }
    }
}
