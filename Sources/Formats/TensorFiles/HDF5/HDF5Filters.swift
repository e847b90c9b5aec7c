import CRetintHDF5

/// What was done to the bytes of a chunk before they were stored, in that order.
struct HDF5Filters: Hashable, Codable {
    private enum Filter: Hashable, Codable {
        case deflate
        case shuffle(elementSize: Int)
        case fletcher32
    }

    private let filters: [Filter]

    init(_ properties: hid_t, at place: FilePlace) throws(TensorFileError) {
        var filters: [Filter] = []
        for index in 0..<max(H5Pget_nfilters(properties), 0) {
            filters.append(try Self.filter(properties, UInt32(index), place))
        }
        guard filters.count(where: { $0 == .deflate }) <= 1 else {
            throw place.error(.refused, "is compressed more than once")
        }
        self.filters = filters
    }

    private static func filter(
        _ properties: hid_t, _ index: UInt32, _ place: FilePlace
    ) throws(TensorFileError) -> Filter {
        var flags: UInt32 = 0
        var values = [UInt32](repeating: 0, count: 8)
        var count = values.count
        let id = H5Pget_filter2(properties, index, &flags, &count, &values, 0, nil, nil)
        switch id {
        case H5Z_FILTER_DEFLATE: return .deflate
        case H5Z_FILTER_FLETCHER32: return .fletcher32
        case H5Z_FILTER_SHUFFLE:
            guard count >= 1, values[0] >= 1 else {
                throw place.error(.damaged, "its shuffle filter names no element size")
            }
            return .shuffle(elementSize: Int(values[0]))
        default:
            throw place.error(
                .refused,
                "uses filter \(id); only deflate (gzip), shuffle and Fletcher-32 are supported")
        }
    }

    /// Deflate's densest code takes two bits for 258 bytes.
    var largestExpansion: Int { filters.contains(.deflate) ? 1040 : 1 }

    /// Undoes the filters.
    ///
    /// - Parameters:
    ///   - skipped: a bit for each filter that was skipped for this chunk.
    ///   - count: the bytes of the chunk.
    func unpack(
        _ stored: [UInt8], skipping skipped: UInt32, to count: Int, at place: FilePlace
    ) throws(TensorFileError) -> [UInt8] {
        var bytes = stored
        for (index, filter) in filters.enumerated().reversed()
        where index >= 32 || skipped & 1 << UInt32(index) == 0 {
            switch filter {
            case .deflate: bytes = try Deflate.unpack(bytes, limit: count + 4 * index, at: place)
            case .shuffle(let size): bytes = Self.unshuffled(bytes, elementSize: size)
            case .fletcher32: try Fletcher32.strip(&bytes, at: place)
            }
        }
        guard bytes.count == count else {
            throw place.error(
                .damaged, "a chunk decompresses to \(bytes.count) bytes instead of \(count)")
        }
        return bytes
    }

    /// Brings together the bytes of each element; the filter had put all first bytes first.
    private static func unshuffled(_ bytes: [UInt8], elementSize: Int) -> [UInt8] {
        let count = bytes.count / elementSize
        guard elementSize > 1, count > 1 else { return bytes }
        var result = bytes
        for byte in 0..<elementSize {
            for element in 0..<count {
                result[element * elementSize + byte] = bytes[byte * count + element]
            }
        }
        return result
    }
}

/// zlib's stream, decompressed into no more memory than expected.
enum Deflate {
    static func unpack(
        _ packed: [UInt8], limit: Int, at place: FilePlace
    ) throws(TensorFileError) -> [UInt8] {
        var packed = packed
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit_(&stream, ZLIB_VERSION, size) == Z_OK else {
            throw place.error(.damaged, "cannot start zlib")
        }
        defer { inflateEnd(&stream) }
        var status = Z_OK
        let result = [UInt8](unsafeUninitializedCapacity: limit) { output, count in
            packed.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(limit)
                status = inflate(&stream, Z_FINISH)
                count = limit - Int(stream.avail_out)
            }
        }
        guard status == Z_STREAM_END else {
            throw place.error(.damaged, "a compressed chunk is damaged or too long")
        }
        return result
    }
}

/// The checksum that HDF5 appends to a chunk.
enum Fletcher32 {
    /// Checks the last four bytes and removes them.
    static func strip(_ bytes: inout [UInt8], at place: FilePlace) throws(TensorFileError) {
        guard bytes.count >= 4 else {
            throw place.error(.damaged, "a chunk is shorter than its checksum")
        }
        let stored = bytes.suffix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        bytes.removeLast(4)
        guard checksum(bytes) == stored else {
            throw place.error(.damaged, "the checksum of a chunk does not match")
        }
    }

    /// Two sums modulo 65535 over big-endian words of 16 bits; an odd last byte is a high one.
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt64 = 0
        var high: UInt64 = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            let second = index + 1 < bytes.count ? bytes[index + 1] : 0
            low = folded(low + UInt64(bytes[index]) << 8 + UInt64(second))
            high = folded(high + low)
        }
        return UInt32(high) << 16 | UInt32(low)
    }

    /// Modulo 65535 with 65535 itself standing for zero once a sum is not empty.
    private static func folded(_ sum: UInt64) -> UInt64 {
        sum >> 16 + sum & 0xffff
    }
}
