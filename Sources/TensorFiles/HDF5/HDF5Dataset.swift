import CHDF5
import TensorGraph

/// An open dataset that has passed the checks that need no memory for its elements.
struct HDF5Dataset: ~Copyable {
    let place: FilePlace
    let shape: Shape
    let type: HDF5ElementType
    let byteCount: Int
    private let handle: HDF5Handle
    private let chunking: HDF5Chunking?
    private let limits: TensorFileLimits

    /// Takes an open object and examines it.
    static func examine(
        _ handle: consuming HDF5Handle, at place: FilePlace, fileBytes: Int,
        limits: TensorFileLimits
    ) throws(TensorFileError) -> HDF5Dataset {
        guard H5Iget_type(handle.id) == H5I_DATASET else {
            throw place.error(.notFound, "is not a dataset")
        }
        // How it is stored comes first: asking a virtual dataset for its shape can open files.
        let properties = try place.handle(H5Dget_create_plist(handle.id), "cannot be examined")
        let layout = try layout(properties.id, place)
        let shape = try shape(of: handle.id, place, limits)
        let type = try HDF5ElementType(of: handle.id, place)
        let chunking =
            layout == H5D_CHUNKED
            ? try HDF5Chunking(
                properties.id, shape: shape, type: type, at: place, limits: limits) : nil
        let dataset = HDF5Dataset(
            place: place, shape: shape, type: type, byteCount: try byteCount(shape, type, place),
            handle: handle, chunking: chunking, limits: limits)
        try dataset.checkStorage(fileBytes: fileBytes, isContiguous: layout == H5D_CONTIGUOUS)
        return dataset
    }

    /// Reads the elements.
    ///
    /// - Parameter budget: The number of bytes that may still be read.
    func read(budget: Int) throws(TensorFileError) -> StoredTensor {
        try place.checkBudget(byteCount, budget, limits)
        let decoding = ElementDecoding(type: type.stored, isBigEndian: type.isBigEndian)
        let elements = try decoding.read(count: shape.count, at: place) {
            (bytes) throws(TensorFileError) in try fill(bytes)
        }
        return StoredTensor(shape: shape, elements: elements, storedType: type.stored)
    }

    private func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(TensorFileError) {
        guard !bytes.isEmpty else { return }
        if let chunking {
            try chunking.read(handle.id, into: bytes, at: place)
        } else {
            // The type in memory is the type in the file, so that libhdf5 converts nothing.
            let fileType = try place.handle(H5Dget_type(handle.id), "has no type")
            try place.check(
                H5Dread(handle.id, fileType.id, 0, 0, chdf5_default(), bytes.baseAddress),
                "cannot be read")
        }
    }

    /// Whether the file can hold what the dataset declares, so that a small file cannot make us
    /// take much memory.
    private func checkStorage(fileBytes: Int, isContiguous: Bool) throws(TensorFileError) {
        guard byteCount > 0 else { return }
        let stored = Int(clamping: H5Dget_storage_size(handle.id))
        let expansion = chunking?.largestExpansion ?? 1
        let (most, overflow) = stored.multipliedReportingOverflow(by: expansion)
        guard overflow || most >= byteCount, stored <= fileBytes else {
            throw place.error(
                .damaged,
                "declares \(byteCount) bytes and holds \(stored) in a file of \(fileBytes)")
        }
        guard isContiguous else { return }
        let offset = Int(clamping: H5Dget_offset(handle.id))
        guard offset <= fileBytes, fileBytes - offset >= byteCount else {
            throw place.error(.damaged, "its elements reach beyond the end of the file")
        }
    }
}

extension HDF5Dataset {
    private static func layout(
        _ properties: hid_t, _ place: FilePlace
    ) throws(TensorFileError) -> H5D_layout_t {
        guard H5Pget_external_count(properties) == 0 else {
            throw place.error(.refused, "is stored in another file; store it in this one")
        }
        let layout = H5Pget_layout(properties)
        guard layout != H5D_VIRTUAL else {
            throw place.error(.refused, "is a view of other datasets; store a copy instead")
        }
        guard [H5D_COMPACT, H5D_CONTIGUOUS, H5D_CHUNKED].contains(layout) else {
            throw place.error(.damaged, "is stored in an unknown way")
        }
        return layout
    }

    private static func shape(
        of dataset: hid_t, _ place: FilePlace, _ limits: TensorFileLimits
    ) throws(TensorFileError) -> Shape {
        let space = try place.handle(H5Dget_space(dataset), "has no shape")
        switch H5Sget_simple_extent_type(space.id) {
        case H5S_SCALAR: return .scalar
        case H5S_SIMPLE: break
        case H5S_NULL: throw place.error(.refused, "is empty, without a shape")
        default: throw place.failure("has no shape")
        }
        let rank = Int(H5Sget_simple_extent_ndims(space.id))
        guard rank >= 0, rank <= limits.rank else {
            throw place.error(.refused, "has \(rank) dimensions; at most \(limits.rank) are read")
        }
        var extents = [hsize_t](repeating: 0, count: rank)
        try place.check(H5Sget_simple_extent_dims(space.id, &extents, nil), "has no shape")
        return try Shape(checked: extents, place)
    }

    private static func byteCount(
        _ shape: Shape, _ type: HDF5ElementType, _ place: FilePlace
    ) throws(TensorFileError) -> Int {
        let (bytes, overflow) = shape.count.multipliedReportingOverflow(by: type.stored.byteCount)
        guard !overflow else { throw place.error(.refused, "its shape \(shape) is too large") }
        return bytes
    }
}
