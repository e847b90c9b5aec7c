package import RetintGraph

/// Which network: an architecture with its options, or one that was read from a file.
///
/// ```swift
/// let network = NetworkDescription.named("mobile-unet", .init(width: 0.5))
/// print(network)  // mobile-unet, width 0.5
/// let ab = try network.make()(graph.input("lightness", [1, 1, 256, 256]))
/// ```
///
/// Networks are the same if their descriptions are equal. Weights are not part of a description.
public enum NetworkDescription: Hashable, Sendable {
    /// An architecture by its name, one of ``colorizerNames``, with its options.
    case named(String, ColorizerOptions = ColorizerOptions())
    /// A network that was read from a file.
    case imported(NetworkDefinition)

    /// Makes the network, its parameters named as in its state dict.
    ///
    /// - Throws: ``ColorizerError`` for an unknown name, an option outside its range, or one that
    ///   the architecture does not have.
    public func make() throws(ColorizerError) -> any ColorizerNetwork {
        switch self {
        case .imported(let definition): return ImportedColorizer(definition)
        case .named(let name, let options):
            let type = try colorizerType(name)
            for option in ColorizerOptions.table { try option.check(options, for: type) }
            return type.init(options: options)
        }
    }

    /// The name of the architecture in files: `mobile-unet`; `onnx` for an imported network.
    public var architecture: String {
        switch self {
        case .named(let name, _): name
        case .imported: ImportedColorizer.architecture
        }
    }

    /// The options of the architecture; the defaults for an imported network, which has none.
    public var options: ColorizerOptions {
        switch self {
        case .named(_, let options): options
        case .imported: ColorizerOptions()
        }
    }

    /// The definition of an imported network; nil for an architecture with a name.
    public var definition: NetworkDefinition? {
        if case .imported(let definition) = self { definition } else { nil }
    }

    /// The height and width, in pixels, of the input unless other ones are asked for.
    package var defaultSize: Pair { definition?.sizes.only ?? 256 }
}

extension NetworkDescription: CustomStringConvertible {
    /// The architecture, and the options that are not the default: `mobile-unet, width 0.5`.
    public var description: String {
        let options = options.texts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return ([architecture] + options).joined(separator: ", ")
    }
}

/// A description is coded as the architecture's name and its options, or the definition's bytes.
extension NetworkDescription: Codable {
    private enum CodingKeys: String, CodingKey { case architecture, options, definition }

    /// Reads a description. The options' ranges are checked when the network is made.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(String.self, forKey: .architecture)
        guard name != ImportedColorizer.architecture else {
            self = .imported(try container.decode(NetworkDefinition.self, forKey: .definition))
            return
        }
        let options = try container.decodeIfPresent(ColorizerOptions.self, forKey: .options)
        self = .named(name, options ?? ColorizerOptions())
    }

    /// Writes the description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(architecture, forKey: .architecture)
        switch self {
        case .named(_, let options): try container.encode(options, forKey: .options)
        case .imported(let definition): try container.encode(definition, forKey: .definition)
        }
    }
}
