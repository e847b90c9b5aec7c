import RetintFiles
import RetintTensors

/// An archive of NumPy (`.npz`): named tensors, as written by `numpy.savez`.
package enum NumPyArchive {
    /// Reads all tensors, in the order of their names.
    ///
    /// - Throws: ``TensorFileError`` if the file cannot be read, is damaged or compressed, exceeds
    ///   the limits, or contains elements that are not plain numbers.
    package static func read(
        _ path: some PathConvertible, limits: TensorFileLimits = .default
    ) throws(TensorFileError) -> [(name: String, tensor: StoredTensor)] {
        let file = try RegularFile.open(path)
        let zip = try ZipFile(file, limits: limits)
        var budget = ReadBudget(limits, for: file)
        var tensors: [(name: String, tensor: StoredTensor)] = []
        for entry in zip.names.sorted() where entry.hasSuffix(suffix) {
            guard let range = try zip.range(of: entry) else { continue }
            try zip.verify(entry)
            let name = String(entry.dropLast(suffix.count))
            let array = try NumPyFile(file, range, limits, FilePlace(file.path.string, name))
            tensors.append((name, try array.read(&budget)))
        }
        guard !tensors.isEmpty else {
            throw FilePlace(file.path.string).error(
                .otherFormat, "is a zip file, but numpy.savez writes arrays (NAME.npy) into one")
        }
        return tensors
    }

    private static let suffix = ".npy"
}
