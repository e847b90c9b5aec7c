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

    /// Whether a zip file with these entries is an archive of NumPy, and no file of torch.save.
    static func hasNames(_ names: some Sequence<String>) -> Bool {
        names.contains { $0.hasSuffix(suffix) }
    }

    /// Why a file of NumPy is refused where weights are expected.
    ///
    /// - Parameter kind: what it is: "an archive of NumPy (.npz)".
    static func notWeights(_ kind: String) -> String {
        "is \(kind), which is read as the inputs of a model (`retint verify --inputs`, `retint "
            + "quantize --calibrate`) and not as weights; write these as .safetensors or .h5"
    }

    private static let suffix = ".npy"
}
