import RetintTensors

/// How the elements of a dataset are divided into chunks that are stored, and compressed, one by
/// one.
///
/// libhdf5 returns the chunks as they are stored; they are decompressed and assembled here.
/// libhdf5 itself would take as much memory as a chunk's compressed bytes ask for, and trust that
/// they decompress to a whole chunk.
struct HDF5Chunking {
    private let shape: [Int]
    private let chunk: [Int]
    private let elementSize: Int
    private let filters: HDF5Filters

    init(
        _ extents: [UInt64], of shape: Shape, _ type: HDF5ElementType, _ filters: HDF5Filters,
        at place: FilePlace, limits: TensorFileLimits
    ) throws(TensorFileError) {
        guard shape.rank > 0, extents.count == shape.rank, !extents.contains(0) else {
            throw place.error(.damaged, "its chunks are not of \(shape.rank) dimensions")
        }
        self.shape = shape.dimensions
        chunk = try Shape(checked: extents, place).dimensions
        elementSize = type.stored.byteCount
        self.filters = filters
        try check(place, limits)
    }

    /// How many times smaller than its elements a chunk can be stored.
    var largestExpansion: Int { filters.largestExpansion }

    private var chunkBytes: Int { chunk.reduce(elementSize, *) }
    /// The chunks along each dimension; the last ones may extend beyond the tensor.
    private var grid: [Int] { zip(shape, chunk).map { $0 == 0 ? 0 : ($0 - 1) / $1 + 1 } }

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
                .refused, "is divided into over \(limits.chunks) chunks; store it in larger ones")
        }
    }

    /// Assembles the tensor from its chunks.
    ///
    /// - Parameter stored: returns the stored bytes of the chunk whose first element has this
    ///   position in the tensor, for a decompressed size, and a bit for each filter that was
    ///   skipped.
    func read(
        into bytes: UnsafeMutableRawBufferPointer, at place: FilePlace,
        _ stored: ([Int], Int) throws(TensorFileError) -> (bytes: [UInt8], skipped: UInt32)
    ) throws(TensorFileError) {
        var position = [Int](repeating: 0, count: grid.count)
        repeat {
            let origin = zip(position, chunk).map(*)
            let packed = try stored(origin, chunkBytes)
            let unpacked = try filters.unpack(
                packed.bytes, skipping: packed.skipped, to: chunkBytes, at: place)
            unpacked.withUnsafeBytes { copy(chunk: $0, at: origin, to: bytes) }
        } while Self.advance(&position, in: grid)
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
