import RetintArchitectures
import RetintCheckpoints
import RetintMIL
import RetintMLPackage

/// The network that a retint package was exported from, according to its metadata.
struct PackageOrigin {
    let colorizer: any ColorizerNetwork
    /// The architecture's options, as stored in a checkpoint.
    let options: [String: String]
    /// The ``weightsHash(_:)`` of the checkpoint.
    let checkpointHash: String?

    /// Reads the metadata; nil if retint did not export the package.
    ///
    /// - Throws: ``ConversionError`` for an unknown architecture or malformed options.
    init?(_ package: MLPackage) throws {
        let texts = package.description.metadata.userDefined
        guard let architecture = texts["retint.architecture"] else { return nil }
        guard architecture != ImportedColorizer.architecture else {
            throw ConversionError(
                place: "metadata retint.architecture",
                rule: "the network was imported from a file, and a package does not hold its "
                    + "definition",
                remedy: "Take the weights from the checkpoint that it was exported from.")
        }
        options = try Self.options(texts["retint.options"] ?? "")
        checkpointHash = texts["retint.checkpoint"]
        do {
            colorizer = try makeColorizer(architecture, options: ColorizerOptions(options))
        } catch {
            throw ConversionError(
                place: "metadata retint.architecture", rule: "\(error)",
                remedy: "Use the version of retint that exported the package.")
        }
    }

    /// Parses options such as `width=0.5 class_head=false`.
    private static func options(_ text: String) throws -> [String: String] {
        var options: [String: String] = [:]
        for choice in text.split(separator: " ") {
            let parts = choice.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, options.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw ConversionError(
                    place: "metadata retint.options",
                    rule: "\(text.debugDescription) is not a list of name=value",
                    remedy: "The package was changed after retint exported it: export it again.")
            }
        }
        return options
    }
}
