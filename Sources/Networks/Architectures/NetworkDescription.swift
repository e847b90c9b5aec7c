/// Which network: an architecture with its options, or one that was read from a file.
///
/// ```swift
/// let network = NetworkDescription.named("mobile-unet", .init(width: 0.5))
/// print(network)  // mobile-unet, width 0.5
/// let ab = try network.make()(graph.input("lightness", [1, 1, 256, 256]))
/// ```
///
/// Two networks are the same if their descriptions are equal. A description has no weights.
public enum NetworkDescription: Hashable, Sendable {
    /// An architecture by its name, one of ``colorizerNames``, with its options.
    case named(String, ColorizerOptions = ColorizerOptions())
    /// A network that was read from a file.
    case imported(NetworkDefinition)

    /// Creates the network; parameters are named as in its state dict.
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

    /// The architecture's options; the defaults for an imported network, which has none.
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
}

extension NetworkDescription: CustomStringConvertible {
    /// The architecture, and the options that are not the default: `mobile-unet, width 0.5`.
    public var description: String {
        let options = options.texts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return ([architecture] + options).joined(separator: ", ")
    }
}

/// A description is encoded as the architecture's name with its options or the definition's bytes.
extension NetworkDescription: Codable {
    private enum CodingKeys: String, CodingKey { case architecture, options, definition }

    /// Decodes a description. The options' ranges are checked when the network is created.
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

    /// Encodes the description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(architecture, forKey: .architecture)
        switch self {
        case .named(_, let options): try container.encode(options, forKey: .options)
        case .imported(let definition): try container.encode(definition, forKey: .definition)
        }
    }
}
