import CRetintHDF5
package import RetintFiles

/// Writes an HDF5 file of tensors in groups and attributes. Equal calls give equal bytes.
///
/// libhdf5 builds the file in memory, because it may crash on a full disk. That takes as much
/// memory as the tensors.
///
/// The file appears at its path with ``finish()``. Until then, or if anything fails or the writer
/// is released, an existing file is unchanged.
package final class HDF5Writer {
    /// The path that the file has once it is finished.
    package let path: String
    private let pending: PendingFile
    private var file: HDF5Handle?
    private var failure: TensorFileError?

    /// Starts a file that will replace any at `path`.
    package init(path: some PathConvertible) throws(TensorFileError) {
        let path = path.filePath.string
        self.path = path
        let pending = try PendingFile.start(path)
        self.pending = pending
        file = try HDF5Library.run { () throws(TensorFileError) in
            try Self.create(pending.path.string, FilePlace(path))
        }
    }

    /// Writes a tensor in its `storedType`.
    ///
    /// - Parameter name: The path (`outputs/output`); missing groups are created. Dots are part of
    ///   a name.
    package func write(_ tensor: StoredTensor, to name: String) throws(TensorFileError) {
        try change(name) { (file, place) throws(TensorFileError) in
            let names = try Self.components(of: name, place)
            let last = names.last!
            let group = try Self.group(names.dropLast(), in: file, place)
            guard H5Lexists(group.id, last, chdf5_default()) == 0 else {
                throw place.error(.unwritable, "is already in the file")
            }
            try HDF5DatasetWriter(tensor: tensor, place: place).write(to: group.id, as: last)
        }
    }

    /// Creates a group and those above it, unless they exist.
    package func createGroup(_ name: String) throws(TensorFileError) {
        try change(name) { (file, place) throws(TensorFileError) in
            _ = try Self.group(Self.components(of: name, place), in: file, place)
        }
    }

    /// Sets an attribute of a group, which is created if needed; an old value is replaced.
    ///
    /// - Parameter group: The path; empty for the root group.
    package func setAttribute(
        _ name: String, to value: HDF5Attribute, of group: String = ""
    ) throws(TensorFileError) {
        try change(group) { (file, place) throws(TensorFileError) in
            let names = group.isEmpty ? [] : try Self.components(of: group, place)
            let object = try Self.group(names, in: file, place)
            let place = FilePlace(path, "\(group) attribute \(name)")
            try HDF5AttributeWriter(name: name, place: place).write(value, to: object.id)
        }
    }

    /// Completes the file and moves it to its path. Nothing can be written afterwards.
    package func finish() throws(TensorFileError) {
        try change(nil) { (file, place) throws(TensorFileError) in
            try place.check(H5Fflush(file, H5F_SCOPE_LOCAL), "cannot be completed", .unwritable)
            let image = try Self.image(of: file, place)
            try pending.append(image)
        }
        HDF5Library.run { file = nil }
        try pending.finish()
    }

    /// Runs a step unless an earlier one failed, after which the file could be incomplete.
    private func change(
        _ name: String?, _ step: (hid_t, FilePlace) throws(TensorFileError) -> Void
    ) throws(TensorFileError) {
        let place = FilePlace(path, name)
        if let failure { throw failure }
        do throws(TensorFileError) {
            try HDF5Library.run { () throws(TensorFileError) in
                guard let id = file?.id else {
                    throw place.error(.unwritable, "the file is already finished")
                }
                try step(id, place)
            }
        } catch {
            failure = error
            throw error
        }
    }
}

extension HDF5Writer {
    /// The bytes of a file in memory, valid until it is changed.
    private static func image(
        of file: hid_t, _ place: FilePlace
    ) throws(TensorFileError) -> UnsafeRawBufferPointer {
        let count = H5Fget_file_image(file, nil, 0)
        var handle: UnsafeMutableRawPointer?
        let status = H5Fget_vfd_handle(file, chdf5_default(), &handle)
        guard count > 0, status >= 0, let handle else {
            throw place.failure("cannot be completed", .unwritable)
        }
        // The driver returns the address of its pointer to the bytes.
        let start = handle.load(as: UnsafeRawPointer.self)
        return UnsafeRawBufferPointer(start: start, count: count)
    }

    private static func create(
        _ path: String, _ place: FilePlace
    ) throws(TensorFileError) -> HDF5Handle {
        let access = try place.handle(chdf5_file_access(), "libhdf5 has no memory", .unwritable)
        H5Pset_fapl_core(access.id, 16 << 20, false)
        H5Pset_fclose_degree(access.id, H5F_CLOSE_STRONG)
        // Metadata with checksums, and attributes over 64 kB.
        H5Pset_libver_bounds(access.id, H5F_LIBVER_V18, H5F_LIBVER_V110)
        let creation = try place.handle(
            chdf5_file_creation(), "libhdf5 has no memory", .unwritable)
        makeReproducible(creation.id)
        return try place.handle(
            H5Fcreate(path, chdf5_truncate(), creation.id, access.id), "cannot be created",
            .unwritable)
    }

    /// Groups record the order of their entries but not the time.
    private static func makeReproducible(_ properties: hid_t) {
        H5Pset_obj_track_times(properties, false)
        _ = chdf5_keep_link_order(properties)
    }

    private static func components(
        of name: String, _ place: FilePlace
    ) throws(TensorFileError) -> [String] {
        let names = name.pathParts
        let isValid = names.allSatisfy {
            !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains(0)
        }
        guard isValid else {
            throw place.error(.unwritable, "is not a path of names joined by slashes")
        }
        return names
    }

    private static func group(
        _ names: some Sequence<String>, in file: hid_t, _ place: FilePlace
    ) throws(TensorFileError) -> HDF5Handle {
        var group = try place.handle(
            H5Gopen2(file, "/", chdf5_default()), "cannot be written", .unwritable)
        for name in names {
            group = try child(name, of: group.id, place)
        }
        return group
    }

    private static func child(
        _ name: String, of group: hid_t, _ place: FilePlace
    ) throws(TensorFileError) -> HDF5Handle {
        if H5Lexists(group, name, chdf5_default()) > 0 {
            return try place.handle(
                H5Gopen2(group, name, chdf5_default()), "\(name.debugDescription) is not a group",
                .unwritable)
        }
        let creation = try place.handle(
            chdf5_group_creation(), "libhdf5 has no memory", .unwritable)
        makeReproducible(creation.id)
        return try place.handle(
            H5Gcreate2(group, name, chdf5_default(), creation.id, chdf5_default()),
            "cannot be written", .unwritable)
    }
}

/// Writes one tensor as a contiguous dataset.
private struct HDF5DatasetWriter {
    let tensor: StoredTensor
    let place: FilePlace

    func write(to group: hid_t, as name: String) throws(TensorFileError) {
        let type = try place.handle(fileType, "cannot be written", .unwritable)
        let space = try dataspace()
        let creation = try place.handle(
            chdf5_dataset_creation(), "libhdf5 has no memory", .unwritable)
        H5Pset_obj_track_times(creation.id, false)
        H5Pset_fill_time(creation.id, H5D_FILL_TIME_NEVER)
        let dataset = try place.handle(
            H5Dcreate2(
                group, name, type.id, space.id, chdf5_default(), creation.id, chdf5_default()),
            "cannot be written", .unwritable)
        guard tensor.shape.count > 0 else { return }
        try ElementEncoding(type: storedType).withBytes(of: tensor.elements, at: place) {
            (bytes) throws(TensorFileError) in
            let status = H5Dwrite(dataset.id, type.id, 0, 0, chdf5_default(), bytes.baseAddress)
            try place.check(status, "cannot be written", .unwritable)
        }
    }

    /// The types that h5py and PyTorch support: no bfloat16, and integers as int64 or uint8.
    private var storedType: StoredType {
        guard tensor.storedType.isFloat else {
            return tensor.storedType == .uint8 ? .uint8 : .int64
        }
        return tensor.storedType == .bfloat16 ? .float32 : tensor.storedType
    }

    private var fileType: hid_t {
        switch storedType {
        case .float16: chdf5_float16(0, 5)
        case .float64: chdf5_float64(0)
        case .float32: chdf5_float32(0)
        case .uint8: chdf5_uint8()
        default: chdf5_int64()
        }
    }

    private func dataspace() throws(TensorFileError) -> HDF5Handle {
        let extents = tensor.shape.dimensions.map(hsize_t.init)
        let id =
            extents.isEmpty
            ? H5Screate(H5S_SCALAR) : H5Screate_simple(Int32(extents.count), extents, nil)
        return try place.handle(id, "has a shape that HDF5 does not support", .unwritable)
    }
}

/// Writes one attribute.
private struct HDF5AttributeWriter {
    let name: String
    let place: FilePlace

    func write(_ value: HDF5Attribute, to object: hid_t) throws(TensorFileError) {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw place.error(.unwritable, "an attribute needs a name without zero bytes")
        }
        if H5Aexists(object, name) > 0 { H5Adelete(object, name) }
        switch value {
        case .string(let text): try write([text], isScalar: true, to: object)
        case .strings(let texts): try write(texts, isScalar: false, to: object)
        case .integer(let number): try write([number], chdf5_native_int64(), nil, object)
        case .integers(let numbers): try write(numbers, chdf5_native_int64(), numbers.count, object)
        case .double(let number): try write([number], chdf5_native_double(), nil, object)
        case .doubles(let numbers):
            try write(numbers, chdf5_native_double(), numbers.count, object)
        case .unsupported: throw place.error(.unwritable, "has no value to write")
        }
    }

    private func write(
        _ texts: [String], isScalar: Bool, to object: hid_t
    ) throws(TensorFileError) {
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
            throw place.error(.unwritable, "a string in HDF5 cannot contain a zero byte")
        }
        // All with the length of the longest: see ``HDF5Attribute/unsupported``.
        let length = max(texts.map(\.utf8.count).max() ?? 0, 1)
        let bytes = texts.flatMap { text in
            Array(text.utf8) + [UInt8](repeating: 0, count: length - text.utf8.count)
        }
        try write(bytes, chdf5_string(length), isScalar ? nil : texts.count, object)
    }

    /// - Parameter extent: the number of values of a list; nil for a single value.
    private func write<Value: BitwiseCopyable>(
        _ values: [Value], _ type: hid_t, _ extent: Int?, _ object: hid_t
    ) throws(TensorFileError) {
        let type = try place.handle(type, "cannot be written", .unwritable)
        let extents = extent.map { [hsize_t($0)] } ?? []
        let space = try place.handle(
            extents.isEmpty ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, extents, nil),
            "cannot be written", .unwritable)
        let attribute = try place.handle(
            H5Acreate2(object, name, type.id, space.id, chdf5_default(), chdf5_default()),
            "cannot be written", .unwritable)
        guard !values.isEmpty else { return }
        try place.check(
            H5Awrite(attribute.id, type.id, values), "cannot be written", .unwritable)
    }
}
