public import RetintFiles
public import RetintTensors

/// Reads the tensors of an untrusted safetensors file.
///
/// The whole header is checked when the file is opened; elements are read on demand, within the
/// limits.
public final class SafetensorsReader: TensorReader {
    /// The path of the file.
    public let path: String
    /// The limits beyond which tensors are refused.
    public let limits: TensorFileLimits
    /// The format, which is safetensors.
    public var format: TensorFileFormat { .safetensors }
    /// The file's metadata, such as `format`: `pt`.
    public var metadata: [String: String] { header.metadata }
    /// The file's metadata.
    public var texts: [String: String]? { metadata }

    private let file: RegularFile
    private let header: SafetensorsHeader
    /// The index of each tensor in the header.
    private let indices: [String: Int]

    /// Opens a file for reading.
    public init(
        path: some PathConvertible, limits: TensorFileLimits = .default
    ) throws(TensorFileError) {
        self.path = path.filePath.string
        self.limits = limits
        file = try RegularFile.open(path)
        header = try SafetensorsHeader(of: file, limits: limits)
        indices = Dictionary(
            uniqueKeysWithValues: header.entries.enumerated().map { ($0.element.name, $0.offset) })
    }

    /// The names of the tensors, in the order of the file.
    public func tensorNames() throws(TensorFileError) -> [String] { header.entries.map(\.name) }

    /// The shape of a tensor, without reading it.
    ///
    /// - Throws: ``TensorFileError`` of the kind `notFound` if there is no such tensor.
    public func shape(of name: String) throws(TensorFileError) -> Shape {
        try entry(name).shape
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
    ///   the limits, is of a type that is not one of ``StoredType`` or cannot be read.
    public func read(
        _ name: String, expecting expected: Shape? = nil
    ) throws(TensorFileError) -> StoredTensor {
        let entry = try entry(name)
        try FilePlace(path, name).check(entry.shape, expecting: expected)
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
        for entry in header.entries {
            guard dict.wants(entry.name, entry.shape, expecting: expected) else { continue }
            dict[entry.name] = try read(entry, &budget)
        }
        return dict
    }

    private func entry(_ name: String) throws(TensorFileError) -> SafetensorsHeader.Entry {
        guard let index = indices[name] else {
            throw FilePlace(path, name).error(.notFound, "is not in the file")
        }
        return header.entries[index]
    }

    private func storedType(
        of entry: SafetensorsHeader.Entry
    ) throws(TensorFileError) -> StoredType {
        guard let stored = entry.type.stored else {
            throw FilePlace(path, entry.name).notPlain("\(entry.type.rawValue)")
        }
        return stored
    }

    private func read(
        _ entry: SafetensorsHeader.Entry, _ budget: inout ReadBudget
    ) throws(TensorFileError) -> StoredTensor {
        let place = FilePlace(path, entry.name)
        let type = try storedType(of: entry)
        try budget.take(entry.shape.count, of: type, at: place)
        let offset = header.dataStart + entry.bytes.lowerBound
        let elements = try ElementDecoding(type: type).read(count: entry.shape.count, at: place) {
            (bytes) throws(TensorFileError) in try file.fill(bytes, at: offset)
        }
        return StoredTensor(shape: entry.shape, elements: elements, storedType: type)
    }
}

extension SafetensorsReader {
    static func open(
        _ path: String, _ limits: TensorFileLimits, key: String?
    ) throws(TensorFileError) -> any TensorReader {
        try SafetensorsReader(path: path, limits: limits)
    }

    /// Whether a file begins with a header of the format.
    static func recognizes(
        _ file: RegularFile, start: [UInt8]
    ) throws(TensorFileError) -> Bool {
        SafetensorsHeader.begins(start)
    }
}
