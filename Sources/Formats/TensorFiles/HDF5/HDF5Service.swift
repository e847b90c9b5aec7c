import CRetintHDF5

/// Asks libhdf5 about one file. Several threads may share it; they are serialized.
final class HDF5Service: @unchecked Sendable {
    // All of it is guarded by the lock of ``HDF5Library``.
    private var file: HDF5Handle?
    private var path = ""
    private var limits = TensorFileLimits.default
    /// The dataset of the last request: its chunks follow one by one.
    private var last: (names: [String], dataset: HDF5OpenDataset)?

    deinit {
        // The file last: closing it closes all objects that are open in it.
        HDF5Library.run {
            last = nil
            file = nil
        }
    }

    func answer(_ request: HDF5Request) throws(TensorFileError) -> HDF5Answer {
        try HDF5Library.run { () throws(TensorFileError) in try locked(request) }
    }

    private func locked(_ request: HDF5Request) throws(TensorFileError) -> HDF5Answer {
        var answer = HDF5Answer()
        switch request {
        case .open(let path, let opened, let limits):
            (self.path, self.limits) = (path, limits)
            file = try open(opened)
        case .datasets(let group): answer.datasets = try datasets(under: group)
        case .dataset(let names):
            answer.datasets = [HDF5DatasetEntry(names, try dataset(names))]
        case .elements(let names): answer.bytes = try dataset(names).elements()
        case .chunk(let names, let origin, let byteCount):
            let chunk = try dataset(names).chunk(at: origin, byteCount: byteCount)
            (answer.bytes, answer.skippedFilters) = (chunk.bytes, chunk.skipped)
        case .attributes(let names):
            // A handle closes its object after its last use, so it gets a name.
            let object = try object(names)
            answer.attributes = try HDF5Attributes.read(
                of: object.id, at: place(names), limits: limits)
        case .contains(let names): answer.isThere = (try? object(names)) != nil
        case .containsAttribute(let name):
            let root = try root()
            answer.isThere = H5Aexists(root.id, name) > 0
        }
        return answer
    }

    private func place(_ names: [String]) -> FilePlace {
        FilePlace(path, names.joined(separator: "/"))
    }

    private func open(_ opened: String) throws(TensorFileError) -> HDF5Handle {
        let place = FilePlace(path)
        let access = try place.handle(chdf5_file_access(), "libhdf5 has no memory", .unreadable)
        H5Pset_fapl_sec2(access.id)
        H5Pset_fclose_degree(access.id, H5F_CLOSE_STRONG)
        H5Pset_file_locking(access.id, true, true)
        return try place.handle(
            H5Fopen(opened, chdf5_read_only(), access.id), "cannot be opened")
    }

    private func root() throws(TensorFileError) -> HDF5Handle {
        try place([]).handle(
            H5Gopen2(file?.id ?? -1, "/", chdf5_default()), "the root group cannot be opened")
    }

    /// Opens the object at a path, following hard links only.
    private func object(_ names: [String]) throws(TensorFileError) -> HDF5Handle {
        let place = place(names)
        var object = try root()
        for name in names { object = try HDF5Link.open(name, in: object.id, at: place) }
        return object
    }

    private func dataset(_ names: [String]) throws(TensorFileError) -> HDF5OpenDataset {
        if let last, last.names == names { return last.dataset }
        let dataset = try HDF5OpenDataset(object(names), at: place(names))
        last = (names, dataset)
        return dataset
    }

    private func datasets(under group: [String]) throws(TensorFileError) -> [HDF5DatasetEntry] {
        var walk = HDF5Walk(path: path, limits: limits)
        try walk.visit(object(group), as: group)
        return walk.datasets
    }
}
