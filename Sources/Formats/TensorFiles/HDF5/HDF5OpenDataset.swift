import CRetintHDF5

/// A dataset that libhdf5 has opened.
final class HDF5OpenDataset {
    private let place: FilePlace
    private let handle: HDF5Handle

    init(_ handle: consuming HDF5Handle, at place: FilePlace) throws(TensorFileError) {
        guard H5Iget_type(handle.id) == H5I_DATASET else {
            throw place.error(.notFound, "is not a dataset")
        }
        self.handle = handle
        self.place = place
    }

    func description() throws(TensorFileError) -> HDF5DatasetDescription {
        // The storage layout is checked first: asking a virtual dataset for its shape can open
        // files.
        let layout = try layout()
        return HDF5DatasetDescription(
            extents: try extents(), type: try HDF5ElementType(of: handle.id, place),
            storedBytes: H5Dget_storage_size(handle.id), layout: layout)
    }

    /// The elements of a compact dataset, as they are stored.
    func elements() throws(TensorFileError) -> [UInt8] {
        // A header, and so its contents, has less than 64 KiB.
        let count = Int(clamping: H5Dget_storage_size(handle.id))
        guard count <= 1 << 16 else {
            throw place.error(.damaged, "has \(count) bytes in its header")
        }
        // The type in memory is the type in the file, so that libhdf5 converts nothing.
        let fileType = try place.handle(H5Dget_type(handle.id), "has no type")
        let space = try place.handle(H5Dget_space(handle.id), "has no shape")
        let elements = H5Sget_simple_extent_npoints(space.id)
        guard elements >= 0, Int(elements) <= count / max(H5Tget_size(fileType.id), 1) else {
            throw place.error(.damaged, "declares \(elements) elements but contains \(count) bytes")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        let status = H5Dread(handle.id, fileType.id, 0, 0, chdf5_default(), &bytes)
        try place.check(status, "cannot be read")
        return bytes
    }

    /// A stored chunk, with a bit for each filter that was skipped for it.
    ///
    /// - Parameter byteCount: the size of a decompressed chunk.
    func chunk(
        at origin: [Int], byteCount: Int
    ) throws(TensorFileError) -> (bytes: [UInt8], skipped: UInt32) {
        let offset = origin.map { hsize_t(clamping: $0) }
        var size: hsize_t = 0
        var address: haddr_t = 0
        var skipped: UInt32 = 0
        // Not H5Dget_chunk_storage_size, which says what an unpacked chunk should take in the file
        // and not the size that H5Dread_chunk goes by.
        try place.check(
            H5Dget_chunk_info_by_coord(handle.id, offset, &skipped, &address, &size),
            "its chunk at \(origin) is missing")
        // What deflate cannot pack grows by a thousandth; the checksum takes 4 bytes.
        guard size > 0, size <= byteCount + byteCount / 64 + 1024 else {
            throw place.error(
                .damaged, "its chunk at \(origin) of \(byteCount) bytes is stored in \(size)")
        }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        try place.check(
            H5Dread_chunk(handle.id, chdf5_default(), offset, &skipped, &bytes),
            "its chunk at \(origin) cannot be read")
        return (bytes, skipped)
    }
}

extension HDF5OpenDataset {
    private func layout() throws(TensorFileError) -> HDF5DatasetDescription.Layout {
        let properties = try place.handle(H5Dget_create_plist(handle.id), "cannot be examined")
        guard H5Pget_external_count(properties.id) == 0 else {
            throw place.error(.refused, "is stored in another file; store it in this one")
        }
        switch H5Pget_layout(properties.id) {
        case H5D_COMPACT: return .compact
        case H5D_CONTIGUOUS: return .contiguous(offset: UInt64(H5Dget_offset(handle.id)))
        case H5D_CHUNKED:
            return .chunked(
                extents: chunkExtents(properties.id),
                try HDF5Filters(properties.id, at: place))
        case H5D_VIRTUAL:
            throw place.error(.refused, "is a view of other datasets; store a copy instead")
        default: throw place.error(.damaged, "is stored in an unknown way")
        }
    }

    /// As many as the chunks have dimensions; whether these are the tensor's is checked later.
    private func chunkExtents(_ properties: hid_t) -> [UInt64] {
        var extents = [hsize_t](repeating: 0, count: Int(H5S_MAX_RANK))
        let rank = H5Pget_chunk(properties, Int32(extents.count), &extents)
        return Array(extents.prefix(max(Int(rank), 0)))
    }

    private func extents() throws(TensorFileError) -> [UInt64] {
        let space = try place.handle(H5Dget_space(handle.id), "has no shape")
        switch H5Sget_simple_extent_type(space.id) {
        case H5S_SCALAR: return []
        case H5S_SIMPLE: break
        case H5S_NULL: throw place.error(.refused, "is empty, without a shape")
        default: throw place.failure("has no shape")
        }
        var extents = [hsize_t](repeating: 0, count: Int(H5S_MAX_RANK))
        let rank = Int(H5Sget_simple_extent_ndims(space.id))
        guard (0...extents.count).contains(rank) else { throw place.failure("has no shape") }
        try place.check(H5Sget_simple_extent_dims(space.id, &extents, nil), "has no shape")
        return Array(extents.prefix(rank))
    }
}

extension HDF5DatasetEntry {
    init(_ names: [String], _ dataset: HDF5OpenDataset) {
        self.names = names
        do throws(TensorFileError) {
            (description, error) = (try dataset.description(), nil)
        } catch {
            (description, self.error) = (nil, error)
        }
    }
}
