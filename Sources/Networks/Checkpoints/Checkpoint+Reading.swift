public import RetintArchitectures
import RetintFiles
import RetintTensorFiles

extension Checkpoint {
    /// Reads a checkpoint, or the network of an `.onnx` file as
    /// ``importing(onnx:form:outputs:)`` does. The shapes of all tensors are checked
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

    /// The network of the checkpoint at `path`, without reading its tensors; nil for another file.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``CheckpointError`` if it is
    ///   damaged, `ColorizerError` for an imported network or an unknown option.
    public static func network(of path: some PathConvertible) throws -> NetworkDescription? {
        let path = path.filePath.string
        guard try !TensorFileFormat(ofFileAt: path).hasKeys else { return nil }
        // Throws for a file that cannot be read.
        _ = try StateDict(contentsOf: path, expecting: [:])
        guard let attributes = attributes(of: path) else { return nil }
        return try CheckpointAttributes(attributes, path: path).namedNetwork()
    }
}
