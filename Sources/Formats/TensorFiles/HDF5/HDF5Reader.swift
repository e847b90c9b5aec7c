public import RetintFiles
import RetintLocks
public import RetintTensors

/// Reads tensors and attributes of an untrusted HDF5 file.
///
/// No other file is ever opened: links other than hard links, external storage, virtual datasets
/// and filters other than deflate, shuffle and Fletcher-32 are refused. Sizes are checked against
/// the limits and the file before memory is allocated. Several threads may share a reader; they are
/// serialized.
///
/// After ``HDF5Isolation/start()``, libhdf5 runs in a separate process for each reader: if it
/// crashes, hangs or takes too much memory on a damaged file, the reader throws an error.
public final class HDF5Reader: Sendable {
    /// The path of the file.
    public let path: String
    /// The limits beyond which tensors and attributes are refused.
    public let limits: TensorFileLimits
    let file: RegularFile
    let source: any HDF5Source
    /// The listed datasets: requesting each of them separately would take longer.
    private let known = Mutex<[[String]: HDF5DatasetEntry]>([:])

    /// Opens a file for reading.
    public convenience init(
        path: some PathConvertible, limits: TensorFileLimits = .default
    ) throws(TensorFileError) {
        let file = try RegularFile.open(path)
        let format = try TensorFileFormat(of: file)
        guard format == .hdf5 else {
            throw TensorFileError(
                .otherFormat, path: file.path.string,
                "is a \(format.title) file, but an HDF5 file is needed; "
                    + "`retint import` creates a checkpoint from weights of the networks that it "
                    + "knows; for a network of your own, write an ONNX file (torch.onnx.export), "
                    + "which `retint export` converts")
        }
        try self.init(file, limits, HDF5Isolation.open(file, limits))
    }

    /// Reads through a source that has opened the file.
    init(_ file: RegularFile, _ limits: TensorFileLimits, _ source: any HDF5Source) {
        (self.file, self.limits, self.source) = (file, limits, source)
        path = file.path.string
    }

    /// The datasets below a group, as paths relative to it (`inputs/input`), in the order of
    /// creation if the file records it and by name otherwise.
    ///
    /// - Parameter group: A path such as `activations`; empty for the whole file.
    public func datasetNames(under group: String = "") throws(TensorFileError) -> [String] {
        try datasetPaths(under: group).map { $0.joined(separator: "/") }
    }

    /// Reads a tensor.
    ///
    /// - Parameters:
    ///   - name: A path such as `outputs/output`, or a dotted name in the root group.
    ///   - expected: A shape to check before memory is allocated; nil allows any.
    public func read(
        _ name: String, expecting expected: Shape? = nil
    ) throws(TensorFileError) -> StoredTensor {
        var budget = budget
        return try read(dataset(name, expecting: expected), &budget)
    }

    /// Reads a tensor of bytes (uint8), which take as much memory as in the file.
    ///
    /// - Parameters:
    ///   - name: A path such as `photos/1.png`.
    ///   - expected: A shape to check before memory is allocated; nil allows any.
    public func readBytes(
        _ name: String, expecting expected: Shape? = nil
    ) throws(TensorFileError) -> [UInt8] {
        var budget = budget
        return try dataset(name, expecting: expected).readBytes(&budget, from: file, source)
    }

    /// Asks the system to read a tensor that will be needed soon, if its elements are contiguous in
    /// the file.
    package func readAhead(_ name: String) {
        guard let dataset = try? dataset(components(of: name)), let offset = dataset.offset else {
            return
        }
        file.readAhead(at: offset, count: dataset.byteCount)
    }

    /// The offset of a tensor's elements in the file; nil if they are not contiguous.
    package func offset(of name: String) throws(TensorFileError) -> Int? {
        try dataset(components(of: name)).offset
    }

    /// Whether there is a dataset or group with that name.
    public func contains(_ name: String) -> Bool {
        (try? source.answer(.contains(components(of: name)))).map(\.isThere) ?? false
    }

    /// The shape of a tensor, without reading it.
    public func shape(of name: String) throws(TensorFileError) -> Shape {
        try dataset(components(of: name)).shape
    }

    /// How a tensor's elements are stored, without reading them.
    public func storedType(of name: String) throws(TensorFileError) -> StoredType {
        try dataset(components(of: name)).type.stored
    }

    /// The attributes of a group or dataset by name.
    ///
    /// - Parameter object: The path; empty for the root group.
    public func attributes(
        of object: String = ""
    ) throws(TensorFileError) -> [String: HDF5Attribute] {
        try source.answer(.attributes(components(of: object))).attributes
    }
}

extension HDF5Reader {
    /// The paths of the datasets below a group, relative to it, component by component.
    func datasetPaths(under group: String) throws(TensorFileError) -> [[String]] {
        let names = components(of: group)
        let datasets = try source.answer(.datasets(group: names)).datasets
        known.withLock { for entry in datasets { $0[entry.names] = entry } }
        return datasets.map { Array($0.names.dropFirst(names.count)) }
    }

    /// Checks a dataset, except for its elements.
    func dataset(_ names: [String]) throws(TensorFileError) -> HDF5Dataset {
        let place = FilePlace(path, names.joined(separator: "/"))
        var entry = known.withLock { $0[names] }
        if entry == nil { entry = try source.answer(.dataset(names)).datasets.first }
        guard let description = entry?.description else {
            throw entry?.error ?? place.error(.damaged, "cannot be examined")
        }
        return try HDF5Dataset(
            description, names, at: place, fileBytes: file.byteCount, limits: limits)
    }

    /// Reads the elements of a dataset of this file.
    ///
    func read(
        _ dataset: HDF5Dataset, _ budget: inout ReadBudget
    ) throws(TensorFileError) -> StoredTensor {
        try dataset.read(&budget, from: file, source)
    }

    /// What one load may take.
    var budget: ReadBudget { ReadBudget(limits, for: file) }

    /// Whether the root group has an attribute with that name.
    func rootHasAttribute(_ name: String) -> Bool {
        (try? source.answer(.containsAttribute(name))).map(\.isThere) ?? false
    }

    private func dataset(
        _ name: String, expecting expected: Shape?
    ) throws(TensorFileError) -> HDF5Dataset {
        let dataset = try dataset(components(of: name))
        try dataset.place.check(dataset.shape, expecting: expected)
        return dataset
    }

    private func components(of name: String) -> [String] {
        name.pathParts.filter { !$0.isEmpty }
    }
}
