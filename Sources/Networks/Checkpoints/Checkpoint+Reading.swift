import RetintFiles
import RetintGraph
import RetintLayers
import RetintTensorFiles

extension Checkpoint {
    /// Reads a checkpoint, or the network of an `.onnx` file as
    /// ``importing(onnx:normalization:outputs:)`` does. The shapes of all tensors are checked
    /// against the architecture before any is read.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``CheckpointError`` if it is not
    ///   a checkpoint or its tensors are not those of its architecture; `ONNXError` for an `.onnx`
    ///   file that is not supported.
    public init(contentsOf path: some PathConvertible) throws {
        let path = path.filePath.string
        self = try ModelFormat.reader(ofNetworkAt: path).read(path)
    }

    /// Whether the file at `path` has a checkpoint's attributes; false for one that cannot be read.
    static func isCheckpoint(_ path: String) -> Bool { attributes(of: path) != nil }

    /// The attributes of a checkpoint; nil for another file, or if it cannot be read.
    private static func attributes(of path: String) -> [String: HDF5Attribute]? {
        guard let attributes = try? HDF5Reader(path: path).attributes(),
            attributes[CheckpointFormat.versionKey] != nil
        else { return nil }
        return attributes
    }

    /// The architecture and options of the checkpoint at `path`, without reading its tensors; nil
    /// for another file.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``CheckpointError`` if it is
    ///   damaged.
    public static func network(
        of path: some PathConvertible
    ) throws -> (architecture: String, options: [String: String])? {
        let path = path.filePath.string
        guard try !TensorFileFormat(ofFileAt: path).hasKeys else { return nil }
        // Throws for a file that cannot be read.
        _ = try StateDict(contentsOf: path, expecting: [:])
        guard let attributes = attributes(of: path) else { return nil }
        let checkpoint = try Checkpoint(attributes: attributes, path: path)
        return (checkpoint.architecture, checkpoint.options)
    }

    /// Creates a checkpoint from everything except its tensors.
    init(attributes: [String: HDF5Attribute], path: String) throws {
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
        self.init(architecture: architecture, state: StateDict())
        options = try Self.options(attributes, path: path)
        training = try attributes[Format.trainingKey].map {
            try Self.text($0, Format.trainingKey, path: path)
        }
    }

    private static func options(
        _ attributes: [String: HDF5Attribute], path: String
    ) throws -> [String: String] {
        let prefix = CheckpointFormat.optionPrefix
        var options: [String: String] = [:]
        for (name, value) in attributes where name.hasPrefix(prefix) {
            options[String(name.dropFirst(prefix.count))] = try text(value, name, path: path)
        }
        return options
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
