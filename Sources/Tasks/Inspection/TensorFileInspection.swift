import RetintTensorFiles

/// The contents of an HDF5, safetensors or PyTorch file.
public struct TensorFileInspection: Encodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case kind, file, metadata, tensors, totalElements, totalBytes
    }

    /// `hdf5`, `safetensors` or `pytorch`.
    public let kind: String
    /// The path of the file, as the caller gave it.
    public let file: String
    /// The metadata of a safetensors file; nil for other formats.
    public let metadata: [String: String]?
    /// The tensors, in the order of the file.
    public let tensors: [TensorInspection]
    /// The number of elements of all ``tensors``.
    public let totalElements: Int
    /// The size of all ``tensors`` in bytes, uncompressed.
    public let totalBytes: Int

    /// - Throws: `TensorFileError` if it is not a file of tensors or is refused as a whole.
    init(path: String, key: String?) throws {
        let reader = try openTensorFile(path, key: key)
        kind = reader.format.rawValue
        file = path
        metadata = (reader as? SafetensorsReader)?.metadata
        tensors = try reader.tensorNames().map { name in
            do throws(TensorFileError) {
                return TensorInspection(
                    name: name, shape: try reader.shape(of: name),
                    type: try reader.storedType(of: name))
            } catch {
                return TensorInspection(name: name, problem: error.problem)
            }
        }
        totalElements = tensors.elements
        totalBytes = tensors.bytes
    }
}
