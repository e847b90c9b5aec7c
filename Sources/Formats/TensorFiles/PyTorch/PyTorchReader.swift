public import RetintFiles
import RetintLocks
public import RetintTensors

/// Reads the tensors of an untrusted file of torch.save: a zip file, or the stream that PyTorch
/// wrote before version 1.6.
///
/// The pickle is read as data: nothing that it names is called, and what a state dict does not need
/// is refused. The shapes and places of all tensors are checked when the file is opened; elements
/// are read on demand, within the limits.
public final class PyTorchReader: TensorReader {
    /// The path of the file.
    public let path: String
    /// The limits beyond which tensors are refused.
    public let limits: TensorFileLimits
    /// The format, which is PyTorch's.
    public var format: TensorFileFormat { .pytorch }

    private let file: RegularFile
    private let container: any PyTorchContainer
    private let entries: [Entry]
    /// The index of each tensor in the entries.
    private let indices: [String: Int]
    /// The storages whose checksums have been verified, and their size.
    private let verified = Mutex<(keys: Set<String>, byteCount: Int)>(([], 0))

    /// A tensor that was checked, except for its elements.
    private struct Entry: Sendable {
        let name: String
        let view: StridedView
        let type: PyTorchElements
        let storage: PyTorchStorage
        /// The offset of the storage in the file.
        let offset: Int
    }

    /// Opens a file for reading.
    ///
    /// - Parameter key: The key under which the state dict lies in a file that holds more, such as
    ///   `params_ema`, with dots between several. If nil, it is found where the usual programs
    ///   save it.
    /// - Throws: ``TensorFileError`` if the file cannot be read, is not of torch.save, names
    ///   anything but tensors and plain values, or has several state dicts.
    public init(
        path: some PathConvertible, limits: TensorFileLimits = .default, key: String? = nil
    ) throws(TensorFileError) {
        self.path = path.filePath.string
        self.limits = limits
        file = try RegularFile.open(path)
        let root: PickleValue
        (container, root) = try Self.open(file, limits)
        let saved = try SavedStateDicts(in: root, path: self.path).entries(at: key)
        guard saved.count <= limits.objects else {
            throw FilePlace(self.path).error(
                .refused, "has more than \(limits.objects) tensors; raise the limit to read it")
        }
        var (entries, indices) = ([Entry](), [String: Int]())
        for (name, tensor) in saved {
            let place = FilePlace(self.path, name)
            guard name.utf8.count <= FilePlace.longestName else {
                throw FilePlace(self.path).error(
                    .refused, "contains a name of more than \(FilePlace.longestName) bytes")
            }
            guard indices.updateValue(entries.count, forKey: name) == nil else {
                throw place.error(.damaged, "is in the file twice")
            }
            entries.append(
                Entry(
                    name: name, view: try tensor.view(place, limits), type: tensor.type,
                    storage: tensor.storage,
                    offset: try container.range(of: tensor.storage, place).lowerBound))
        }
        (self.entries, self.indices) = (entries, indices)
    }

    /// The names of the tensors, in the order of the file.
    public func tensorNames() throws(TensorFileError) -> [String] { entries.map(\.name) }

    /// The shape of a tensor, without reading it.
    ///
    /// - Throws: ``TensorFileError`` of the kind `notFound` if there is no such tensor.
    public func shape(of name: String) throws(TensorFileError) -> Shape {
        try entry(name).view.shape
    }

    /// How a tensor's elements are stored, without reading them.
    ///
    /// - Throws: ``TensorFileError`` of the kind `notFound` if there is no such tensor, `refused`
    ///   if its type is not one of ``StoredType``.
    public func storedType(of name: String) throws(TensorFileError) -> StoredType {
        try storedType(of: entry(name))
    }

    /// Reads a tensor.
    ///
    /// - Parameters:
    ///   - name: The name, as in ``tensorNames()``.
    ///   - expected: A shape to check before memory is allocated; nil allows any.
    /// - Throws: ``TensorFileError`` if there is no such tensor, or it has another shape, exceeds
    ///   the limits, has a type that is not in ``StoredType`` or cannot be read.
    public func read(
        _ name: String, expecting expected: Shape? = nil
    ) throws(TensorFileError) -> StoredTensor {
        let entry = try entry(name)
        try FilePlace(path, name).check(entry.view.shape, expecting: expected)
        var budget = ReadBudget(limits, for: file)
        return try read(entry, &budget)
    }

    /// Reads all tensors as a state dict.
    ///
    /// - Parameter expected: The shapes of a model's tensors by name; tensors of another shape or
    ///   name are not read but listed in ``StateDict/unread``. If nil, all are read.
    /// - Throws: ``TensorFileError`` if a tensor exceeds the limits, has a type that is not in
    ///   ``StoredType`` or cannot be read.
    public func stateDict(
        expecting expected: [String: Shape]?
    ) throws(TensorFileError) -> StateDict {
        var dict = StateDict()
        var budget = ReadBudget(limits, for: file)
        for entry in entries {
            guard dict.wants(entry.name, entry.view.shape, expecting: expected) else { continue }
            dict[entry.name] = try read(entry, &budget)
        }
        return dict
    }
}

extension PyTorchReader {
    private static func open(
        _ file: RegularFile, _ limits: TensorFileLimits
    ) throws(TensorFileError) -> (any PyTorchContainer, PickleValue) {
        let place = FilePlace(file.path.string)
        switch try PyTorchSignature(of: file) {
        case .zip: return try PyTorchArchive.open(file, limits: limits)
        case .pickle: return try PyTorchStream.open(file, limits: limits)
        case .tar:
            throw place.error(
                .otherFormat,
                "is a tar file, as PyTorch before 0.2 wrote; load it with PyTorch and save it "
                    + "again")
        case nil: throw place.error(.otherFormat, "is not a torch.save file")
        }
    }

    private func entry(_ name: String) throws(TensorFileError) -> Entry {
        guard let index = indices[name] else {
            throw FilePlace(path, name).error(.notFound, "is not in the file")
        }
        return entries[index]
    }

    private func storedType(of entry: Entry) throws(TensorFileError) -> StoredType {
        guard let stored = entry.type.stored else {
            throw FilePlace(path, entry.name).notPlain("\(entry.type.rawValue)")
        }
        return stored
    }

    private func read(
        _ entry: Entry, _ budget: inout ReadBudget
    ) throws(TensorFileError) -> StoredTensor {
        let place = FilePlace(path, entry.name)
        let type = try storedType(of: entry)
        try budget.take(
            entry.view.shape.count, of: type, readBytes: entry.view.readBytes, at: place)
        try verify(entry.storage, place)
        let decoding = ElementDecoding(type: type, isBigEndian: container.isBigEndian)
        let elements = try decoding.read(count: entry.view.shape.count, at: place) {
            (bytes) throws(TensorFileError) in
            try entry.view.fill(bytes, from: file, at: entry.offset)
        }
        return StoredTensor(shape: entry.view.shape, elements: elements, storedType: type)
    }

    /// Compares the checksum of a storage, once; all storages together are bounded as all tensors
    /// are.
    private func verify(
        _ storage: PyTorchStorage, _ place: FilePlace
    ) throws(TensorFileError) {
        let byteCount = storage.byteCount ?? .max
        let done = verified.withLock { ($0.keys.contains(storage.key), $0.byteCount) }
        guard !done.0 else { return }
        try place.checkBudget(byteCount, limits.totalBytes - done.1, limits)
        try container.verify(storage)
        verified.withLock {
            if $0.keys.insert(storage.key).inserted { $0.byteCount += byteCount }
        }
    }
}

extension PyTorchReader {
    static func open(
        _ path: String, _ limits: TensorFileLimits, key: String?
    ) throws(TensorFileError) -> any TensorReader {
        try PyTorchReader(path: path, limits: limits, key: key)
    }

    /// Whether torch.save writes a file that begins so.
    static func recognizes(
        _ file: RegularFile, start: [UInt8]
    ) throws(TensorFileError) -> Bool {
        try PyTorchSignature(of: file) != nil
    }
}
