import TensorFiles

/// Any HDF5 file.
struct TensorFileInspection: Inspection {
    private enum CodingKeys: String, CodingKey {
        case kind, file, tensors, totalElements, totalBytes
    }

    let kind = "hdf5"
    let file: String
    let tensors: [TensorInspection]
    let totalElements: Int
    let totalBytes: Int

    /// - Throws: `TensorFileError` if it is no HDF5 file or refused as a whole.
    init(path: String) throws {
        let reader = try HDF5Reader(path: path)
        file = path
        tensors = try reader.datasetNames().map { name in
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

    var lines: [String] { ["\(file): HDF5, \(tensors.total)"] + tensors.table }
}
