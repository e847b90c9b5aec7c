import CHDF5
import TensorGraph

/// How the elements of a dataset are cut into chunks that are stored, and packed, one by one.
///
/// libhdf5 hands the chunks out as they are stored; they are unpacked and put together here.
/// Its own way takes as much memory as a chunk's compressed bytes ask for, and trusts that they
/// unpack to a whole chunk.
struct HDF5Chunking {
    private let shape: [Int]
    private let chunk: [Int]
    private let elementSize: Int
    private let filters: HDF5Filters

    init(
        _ properties: hid_t, shape: Shape, type: HDF5ElementType, at place: FilePlace,
        limits: TensorFileLimits
    ) throws(TensorFileError) {
        self.shape = shape.dimensions
        elementSize = type.stored.byteCount
        chunk = try Self.chunk(properties, rank: shape.rank, place)
        filters = try HDF5Filters(properties, at: place)
        try check(place, limits)
    }

    /// How many times smaller than its elements a chunk can be stored.
    var largestExpansion: Int { filters.largestExpansion }

    private var chunkBytes: Int { chunk.reduce(elementSize, *) }
    /// The chunks along each dimension; the last ones may stick out of the tensor.
    private var grid: [Int] { zip(shape, chunk).map { ($0 + $1 - 1) / $1 } }

    private static func chunk(
        _ properties: hid_t, rank: Int, _ place: FilePlace
    ) throws(TensorFileError) -> [Int] {
        var extents = [hsize_t](repeating: 0, count: max(rank, 1))
        let got = H5Pget_chunk(properties, Int32(extents.count), &extents)
        guard rank > 0, Int(got) == rank, !extents.contains(0) else {
            throw place.error(.damaged, "its chunks are not of \(rank) dimensions")
        }
        return try Shape(checked: extents, place).dimensions
    }

    private func check(_ place: FilePlace, _ limits: TensorFileLimits) throws(TensorFileError) {
        let (bytes, overflow) = chunk.reduce(1, *).multipliedReportingOverflow(by: elementSize)
        guard !overflow, bytes <= limits.chunkBytes else {
            throw place.error(
                .refused,
                "has chunks of over \(limits.chunkBytes) bytes; store it in smaller ones")
        }
        // No more chunks than elements, whose number has been checked not to overflow.
        guard grid.reduce(1, *) <= limits.chunks else {
            throw place.error(
                .refused, "is cut into over \(limits.chunks) chunks; store it in larger ones")
        }
    }

    /// Puts the tensor together from its chunks.
    func read(
        _ dataset: hid_t, into bytes: UnsafeMutableRawBufferPointer, at place: FilePlace
    ) throws(TensorFileError) {
        var position = [Int](repeating: 0, count: grid.count)
        repeat {
            let origin = zip(position, chunk).map(*)
            let stored = try storedChunk(dataset, at: origin, place)
            let unpacked = try filters.unpack(
                stored.bytes, skipping: stored.skipped, to: chunkBytes, at: place)
            unpacked.withUnsafeBytes { copy(chunk: $0, at: origin, to: bytes) }
        } while Self.advance(&position, in: grid)
    }

    private func storedChunk(
        _ dataset: hid_t, at origin: [Int], _ place: FilePlace
    ) throws(TensorFileError) -> (bytes: [UInt8], skipped: UInt32) {
        let offset = origin.map(hsize_t.init)
        var size: hsize_t = 0
        var address: haddr_t = 0
        var skipped: UInt32 = 0
        // Not H5Dget_chunk_storage_size, which says what an unpacked chunk should take in the file
        // and not the size that H5Dread_chunk goes by.
        try place.check(
            H5Dget_chunk_info_by_coord(dataset, offset, &skipped, &address, &size),
            "its chunk at \(origin) is lost")
        // What deflate cannot pack grows by a thousandth; the checksum takes 4 bytes.
        guard size > 0, size <= chunkBytes + chunkBytes / 64 + 1024 else {
            throw place.error(
                .damaged, "its chunk at \(origin) of \(chunkBytes) bytes is stored in \(size)")
        }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        try place.check(
            H5Dread_chunk(dataset, chdf5_default(), offset, &skipped, &bytes),
            "its chunk at \(origin) cannot be read")
        return (bytes, skipped)
    }

    /// Copies the part of a chunk that lies in the tensor, row by row.
    private func copy(
        chunk source: UnsafeRawBufferPointer, at origin: [Int],
        to target: UnsafeMutableRawBufferPointer
    ) {
        let inside = (0..<shape.count).map { min(chunk[$0], shape[$0] - origin[$0]) }
        let rowBytes = inside.last! * elementSize
        let rows = Array(inside.dropLast())
        var row = [Int](repeating: 0, count: rows.count)
        repeat {
            let from = Self.index(row + [0], in: chunk) * elementSize
            let to = Self.index(zip(row + [0], origin).map(+), in: shape) * elementSize
            UnsafeMutableRawBufferPointer(rebasing: target[to..<to + rowBytes])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[from..<from + rowBytes]))
        } while Self.advance(&row, in: rows)
    }

    private static func index(_ position: [Int], in shape: [Int]) -> Int {
        zip(position, shape).reduce(0) { $0 * $1.1 + $1.0 }
    }

    /// Steps to the next position in row-major order; false after the last.
    private static func advance(_ position: inout [Int], in extents: [Int]) -> Bool {
        for axis in extents.indices.reversed() {
            position[axis] += 1
            if position[axis] < extents[axis] { return true }
            position[axis] = 0
        }
        return false
    }
}
