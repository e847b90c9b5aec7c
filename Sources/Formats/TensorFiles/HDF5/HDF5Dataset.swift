import RetintFiles
import RetintTensors

/// A dataset that has passed the checks that need no memory for its elements.
struct HDF5Dataset {
    let place: FilePlace
    let shape: Shape
    let type: HDF5ElementType
    let byteCount: Int
    private let names: [String]
    private let storage: Storage

    private enum Storage {
        case compact
        case contiguous(offset: Int)
        case chunked(HDF5Chunking)
    }

    /// Checks what a file declares.
    ///
    /// - Parameter fileBytes: the size of the file.
    init(
        _ description: HDF5DatasetDescription, _ names: [String], at place: FilePlace,
        fileBytes: Int, limits: TensorFileLimits
    ) throws(TensorFileError) {
        (self.place, self.names) = (place, names)
        type = description.type
        let rank = description.extents.count
        guard rank <= limits.rank else {
            throw place.error(.refused, "has \(rank) dimensions; at most \(limits.rank) are read")
        }
        shape = try Shape(checked: description.extents, place)
        byteCount = try Self.byteCount(shape, type, place)
        switch description.layout {
        case .compact: storage = .compact
        case .contiguous(let offset): storage = .contiguous(offset: Int(clamping: offset))
        case .chunked(let extents, let filters):
            storage = .chunked(
                try HDF5Chunking(
                    extents, of: shape, type, filters, at: place, limits: limits))
        }
        try checkStorage(Int(clamping: description.storedBytes), fileBytes: fileBytes)
    }

    /// Reads the elements.
    ///
    /// - Parameters:
    ///   - budget: The memory that may still be taken.
    ///   - file: the file, for contiguous elements.
    ///   - source: the source for all others.
    func read(
        _ budget: inout ReadBudget, from file: RegularFile, _ source: some HDF5Source
    ) throws(TensorFileError) -> StoredTensor {
        try take(from: &budget)
        let decoding = ElementDecoding(type: type.stored, isBigEndian: type.isBigEndian)
        let elements = try decoding.read(count: shape.count, at: place) {
            (bytes) throws(TensorFileError) in try fill(bytes, from: file, source)
        }
        return StoredTensor(shape: shape, elements: elements, storedType: type.stored)
    }

    /// Counts the memory that the elements take.
    func take(from budget: inout ReadBudget) throws(TensorFileError) {
        try budget.take(shape.count, of: type.stored, at: place)
    }

    /// Reads the elements of a tensor of bytes, see ``read(_:from:_:)``.
    func readBytes(
        _ budget: inout ReadBudget, from file: RegularFile, _ source: some HDF5Source
    ) throws(TensorFileError) -> [UInt8] {
        guard type.stored == .uint8 else {
            throw place.error(.mismatch, "contains \(type.stored.rawValue), but bytes are expected")
        }
        try budget.take(byteCount, at: place)
        return try ElementDecoding(type: .uint8).bytes(count: byteCount) {
            (bytes) throws(TensorFileError) in try fill(bytes, from: file, source)
        }
    }

    /// The offset of the elements in the file, if they are contiguous.
    var offset: Int? {
        if case .contiguous(let offset) = storage { offset } else { nil }
    }

    /// Whether the elements are contiguous in the file, and can be read without libhdf5.
    var isContiguous: Bool { offset != nil }

    /// The elements where they lie in the file, if they lie there one after another as float32 or
    /// float16, in the order of bytes that they have in memory; nil otherwise.
    func elements(in file: RegularFile) -> (any TensorSource)? {
        guard case .contiguous(let offset) = storage, !type.isBigEndian else { return nil }
        return switch type.stored {
        case .float32: FileTensor(shape: shape, file: file, offset: offset)
        case .float16: HalfFileTensor(shape: shape, file: file, offset: offset)
        default: nil
        }
    }

    private func fill(
        _ bytes: UnsafeMutableRawBufferPointer, from file: RegularFile, _ source: some HDF5Source
    ) throws(TensorFileError) {
        guard !bytes.isEmpty else { return }
        switch storage {
        case .contiguous(let offset): try file.fill(bytes, at: offset)
        case .chunked(let chunking):
            try chunking.read(into: bytes, at: place) { (origin, count) throws(TensorFileError) in
                let answer = try source.answer(.chunk(names, origin: origin, byteCount: count))
                return (answer.bytes, answer.skippedFilters)
            }
        case .compact:
            let elements = try source.answer(.elements(names)).bytes
            guard elements.count >= bytes.count else {
                throw place.error(
                    .damaged, "declares \(bytes.count) bytes but contains \(elements.count)")
            }
            bytes.copyBytes(from: elements.prefix(bytes.count))
        }
    }

    /// Whether the file can contain what the dataset declares, so that a small file cannot make us
    /// allocate much memory.
    private func checkStorage(_ stored: Int, fileBytes: Int) throws(TensorFileError) {
        guard byteCount > 0 else { return }
        var expansion = 1
        if case .chunked(let chunking) = storage { expansion = chunking.largestExpansion }
        let (most, overflow) = stored.multipliedReportingOverflow(by: expansion)
        guard overflow || most >= byteCount, stored <= fileBytes else {
            throw place.error(
                .damaged,
                "declares \(byteCount) bytes but contains \(stored) in a file of \(fileBytes)")
        }
        guard case .contiguous(let offset) = storage else { return }
        guard offset <= fileBytes, fileBytes - offset >= byteCount else {
            throw place.error(.damaged, "its elements reach beyond the end of the file")
        }
    }

    private static func byteCount(
        _ shape: Shape, _ type: HDF5ElementType, _ place: FilePlace
    ) throws(TensorFileError) -> Int {
        let (bytes, overflow) = shape.count.multipliedReportingOverflow(by: type.stored.byteCount)
        guard !overflow else { throw place.error(.refused, "its shape \(shape) is too large") }
        return bytes
    }
}
