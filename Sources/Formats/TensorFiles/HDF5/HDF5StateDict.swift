import RetintFiles
package import RetintTensors

/// The tensors of a model in an HDF5 file, which are read when they are needed.
package struct HDF5StateDict: Sendable {
    /// The dotted names, in the order of the file.
    package let names: [String]
    private let datasets: [String: HDF5Dataset]
    private let path: String
    private let limits: TensorFileLimits
    private let file: RegularFile
    /// The source for parts of the file that need libhdf5; nil if there are none.
    private let source: (any HDF5Source)?

    /// Lists the tensors of a file.
    ///
    /// - Throws: ``TensorFileError`` as `StateDict.init(from:expecting:)`.
    package init(from reader: HDF5Reader) throws(TensorFileError) {
        let entries = try reader.namedDatasets()
        names = entries.map(\.name)
        datasets = Dictionary(uniqueKeysWithValues: entries.map { ($0, $1) })
        (path, limits, file) = (reader.path, reader.limits, reader.file)
        source = entries.allSatisfy(\.dataset.isContiguous) ? nil : reader.source
    }

    /// The shape of a tensor; nil if there is no tensor with that name.
    package func shape(of name: String) -> Shape? { datasets[name]?.shape }

    /// How a tensor's elements are stored; nil if there is none of that name.
    package func storedType(of name: String) -> StoredType? { datasets[name]?.type.stored }

    /// Compares names and shapes with those of a model.
    ///
    /// - Parameter other: the shapes of tensors that may also be in the file.
    package func compare(
        expected: [(name: String, shape: Shape)], besides other: [String: Shape]
    ) -> LoadReport {
        var dict = StateDict()
        dict.unread = datasets.mapValues(\.shape).filter { other[$0.key] != $0.value }
        return dict.compare(expected: expected)
    }

    /// Throws if tensors exceed the limit of bytes together.
    package func checkBudget(of names: some Sequence<String>) throws(TensorFileError) {
        var budget = ReadBudget(limits, for: file)
        for name in names { try datasets[name]?.take(from: &budget) }
    }

    /// Reads a tensor.
    ///
    /// - Throws: ``TensorFileError`` if there is no tensor with that name, it cannot be read, or
    ///   the file was modified since it was opened.
    package func tensor(_ name: String) throws(TensorFileError) -> StoredTensor {
        guard let dataset = datasets[name] else {
            throw FilePlace(path, name).error(.notFound, "is not in the file")
        }
        var budget = ReadBudget(limits, for: file)
        let tensor =
            if let source {
                try dataset.read(&budget, from: file, source)
            } else {
                try dataset.read(&budget, from: file, ClosedHDF5Source(path: path))
            }
        try file.requireUnchanged()
        return tensor
    }

    /// A tensor of float32 or float16 that is read from the file, as float32, when it is needed;
    /// nil for one that is stored in another way: compressed, in pieces, or as another type.
    package func source(of name: String) -> (any TensorSource)? {
        datasets[name]?.elements(in: file)
    }
}

/// A file for which libhdf5 is no longer needed.
private struct ClosedHDF5Source: HDF5Source {
    let path: String

    func answer(_ request: HDF5Request) throws(TensorFileError) -> HDF5Answer {
        throw FilePlace(path).error(.unreadable, "was closed")
    }
}
