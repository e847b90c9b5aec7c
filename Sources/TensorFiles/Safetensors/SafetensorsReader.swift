public import TensorGraph

/// Reads tensors of a safetensors file from outside.
///
/// The header is checked as a whole when the file is opened; elements are read when they are asked
/// for, within the limits. Nothing outside the file is touched.
public final class SafetensorsReader: TensorReader {
    public let path: String
    public let limits: TensorFileLimits
    public var format: TensorFileFormat { .safetensors }
    /// Free texts that the file carries, such as `format`: `pt`.
    public var metadata: [String: String] { header.metadata }

    private let file: RegularFile
    private let header: SafetensorsHeader
    /// Places in the header's list.
    private let indices: [String: Int]

    /// Opens the file at `path` for reading only.
    public init(path: String, limits: TensorFileLimits = .default) throws(TensorFileError) {
        self.path = path
        self.limits = limits
        file = try RegularFile(path: path)
        header = try SafetensorsHeader(of: file, limits: limits)
        indices = Dictionary(
            uniqueKeysWithValues: header.entries.enumerated().map { ($0.element.name, $0.offset) })
    }

    /// In the order in which they stand in the file.
    public func tensorNames() throws(TensorFileError) -> [String] { header.entries.map(\.name) }

    public func shape(of name: String) throws(TensorFileError) -> Shape {
        try entry(name).shape
    }

    public func storedType(of name: String) throws(TensorFileError) -> StoredType {
        try storedType(of: entry(name))
    }

    public func read(
        _ name: String, expecting expected: Shape? = nil
    ) throws(TensorFileError) -> StoredTensor {
        let entry = try entry(name)
        if let expected, expected != entry.shape {
            throw FilePlace(path, name).error(
                .mismatch, "has shape \(entry.shape) where \(expected) is expected")
        }
        return try read(entry, budget: limits.totalBytes)
    }

    public func stateDict(
        expecting expected: [String: Shape]?
    ) throws(TensorFileError) -> StateDict {
        var dict = StateDict()
        var budget = limits.totalBytes
        for entry in header.entries {
            guard dict.wants(entry.name, entry.shape, expecting: expected) else { continue }
            dict[entry.name] = try read(entry, budget: budget)
            budget -= entry.bytes.count
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
            throw FilePlace(path, entry.name).error(
                .refused,
                "holds \(entry.type.rawValue); a tensor holds plain floats or integers")
        }
        return stored
    }

    /// - Parameter budget: the bytes that may still be read.
    private func read(
        _ entry: SafetensorsHeader.Entry, budget: Int
    ) throws(TensorFileError) -> StoredTensor {
        let place = FilePlace(path, entry.name)
        let type = try storedType(of: entry)
        try place.checkBudget(entry.bytes.count, budget, limits)
        let offset = header.dataStart + entry.bytes.lowerBound
        let elements = try ElementDecoding(type: type).read(count: entry.shape.count, at: place) {
            (bytes) throws(TensorFileError) in try file.read(into: bytes, at: offset)
        }
        return StoredTensor(shape: entry.shape, elements: elements, storedType: type)
    }
}
