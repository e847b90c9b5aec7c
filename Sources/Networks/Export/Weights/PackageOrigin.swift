import RetintArchitectures
import RetintMIL
import RetintMLPackage

/// The network that a retint package was exported from, according to its metadata.
struct PackageOrigin {
    let network: NetworkDescription
    /// The network as ``network`` describes it, made.
    let colorizer: any ColorizerNetwork
    /// The ``weightsHash(_:)`` of the checkpoint.
    let checkpointHash: String?

    /// Reads the metadata; nil if retint did not export the package.
    ///
    /// - Throws: ``ConversionError`` for an unknown architecture or malformed options.
    init?(_ package: MLPackage) throws {
        let texts = package.description.metadata.userDefined
        guard let architecture = texts[MetadataKey.architecture] else { return nil }
        guard architecture != ImportedColorizer.architecture else {
            throw ConversionError(
                place: "metadata \(MetadataKey.architecture)",
                rule: "the network was imported from a file, and a package does not contain its "
                    + "definition",
                remedy: "Take the weights from the checkpoint that it was exported from.")
        }
        checkpointHash = texts[MetadataKey.checkpoint]
        do {
            let options = try ColorizerOptions(line: texts[MetadataKey.options] ?? "")
            network = .named(architecture, options)
            colorizer = try network.make()
        } catch {
            throw Self.refusal(error)
        }
    }

    private static func refusal(_ error: ColorizerError) -> ConversionError {
        if case .malformedOptions = error.kind {
            return ConversionError(
                place: "metadata \(MetadataKey.options)", rule: "\(error)",
                remedy: "The package was changed after retint exported it: export it again.")
        }
        return ConversionError(
            place: "metadata \(MetadataKey.architecture)", rule: "\(error)",
            remedy: "Use the version of retint that exported the package.")
    }

    /// Whether a package's metadata describes a network; all imported networks have the same name.
    static func matches(_ package: MLPackage, of network: NetworkDescription) -> Bool {
        let texts = package.description.metadata.userDefined
        return texts[MetadataKey.architecture] == network.architecture
            && (try? ColorizerOptions(line: texts[MetadataKey.options] ?? "")) == network.options
    }
}
