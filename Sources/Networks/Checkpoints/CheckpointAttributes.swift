import RetintArchitectures
import RetintTensorFiles

/// The attributes of a checkpoint: its network, except for the definition of an imported one, and
/// the state of its training.
struct CheckpointAttributes {
    let architecture: String
    /// The texts of the options other than defaults, by name.
    let optionTexts: [String: String]
    let training: String?

    /// - Throws: ``CheckpointError`` if the attributes are not a checkpoint's.
    init(_ attributes: [String: HDF5Attribute], path: String) throws {
        typealias Format = CheckpointFormat
        guard let version = attributes[Format.versionKey]?.integer,
            let architecture = attributes[Format.architectureKey]?.string
        else {
            throw CheckpointError(
                .notACheckpoint, path: path,
                problem: "is an HDF5 file but not a checkpoint of retint; "
                    + "import PyTorch weights with `retint import`")
        }
        guard version <= Format.version else {
            throw CheckpointError(
                .newerFormat, path: path,
                problem: "has checkpoint format \(version); this version of retint reads formats "
                    + "up to \(Format.version), so use a newer one")
        }
        self.architecture = architecture
        optionTexts = try Self.optionTexts(attributes, path: path)
        training = try attributes[Format.trainingKey].map {
            try Self.text($0, Format.trainingKey, path: path)
        }
    }

    /// The network by its architecture's name.
    ///
    /// - Throws: `ColorizerError` for an imported network, whose definition is not an attribute,
    ///   and for an unknown option or an invalid value.
    func namedNetwork() throws(ColorizerError) -> NetworkDescription {
        guard architecture != ImportedColorizer.architecture else {
            throw ColorizerError(.needsDefinition(architecture))
        }
        return .named(architecture, try ColorizerOptions(optionTexts))
    }

    private static func optionTexts(
        _ attributes: [String: HDF5Attribute], path: String
    ) throws -> [String: String] {
        let prefix = CheckpointFormat.optionPrefix
        var texts: [String: String] = [:]
        for (name, value) in attributes where name.hasPrefix(prefix) {
            texts[String(name.dropFirst(prefix.count))] = try text(value, name, path: path)
        }
        return texts
    }

    private static func text(
        _ attribute: HDF5Attribute, _ name: String, path: String
    ) throws -> String {
        guard let text = attribute.string else {
            throw CheckpointError(
                .malformed, path: path,
                problem: "attribute \(name.debugDescription) is not a string; "
                    + "the file was changed after retint wrote it")
        }
        return text
    }
}
