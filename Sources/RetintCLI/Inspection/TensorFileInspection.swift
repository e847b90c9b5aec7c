import Retint

/// Any HDF5 or safetensors file.
struct TensorFileInspection: Inspection {
    private enum CodingKeys: String, CodingKey {
        case kind, file, metadata, tensors, totalElements, totalBytes
    }

    /// `hdf5` or `safetensors`.
    let kind: String
    let file: String
    /// The free texts of a safetensors file.
    let metadata: [String: String]?
    let tensors: [TensorInspection]
    let totalElements: Int
    let totalBytes: Int

    /// - Throws: `TensorFileError` if it is no file of tensors or refused as a whole.
    init(path: String) throws {
        let reader = try openTensorFile(path)
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

    var lines: [String] {
        let format = kind == "hdf5" ? "HDF5" : kind
        let texts = (metadata ?? [:]).sorted { $0.key < $1.key }.map {
            "\($0.key.debugDescription): \($0.value.debugDescription)"
        }
        return ["\(file): \(format), \(tensors.total)"] + texts + tensors.table
    }
}
