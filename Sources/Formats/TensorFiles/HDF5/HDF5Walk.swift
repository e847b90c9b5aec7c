import CRetintHDF5

/// One entry of a group.
enum HDF5Link {
    /// Opens the object that a hard link leads to; other links are refused.
    static func open(
        _ name: String, in group: hid_t, at place: FilePlace
    ) throws(TensorFileError) -> HDF5Handle {
        guard !name.utf8.contains(0), name != ".", H5Iget_type(group) == H5I_GROUP else {
            throw place.error(.notFound, "is not in the file")
        }
        let type = chdf5_link_type(group, name)
        guard type >= 0 else { throw place.error(.notFound, "is not in the file") }
        guard type == H5L_TYPE_HARD.rawValue else {
            throw place.error(
                .refused,
                "is \(type == H5L_TYPE_SOFT.rawValue ? "a soft" : "an external") link; "
                    + "only contents of the file itself are read, so store a copy instead")
        }
        return try place.handle(
            H5Oopen(group, name, chdf5_default()), "cannot be opened")
    }

    /// The entries of a group, in the order of creation if the file records it.
    static func all(
        in group: hid_t, at place: FilePlace, limit: Int
    ) throws(TensorFileError) -> [String] {
        let names = HDF5Names(limit: limit)
        let properties = try place.handle(H5Gget_create_plist(group), "cannot be examined")
        let isOrdered = chdf5_links_are_ordered(properties.id)
        let context = Unmanaged.passUnretained(names).toOpaque()
        let status = chdf5_each_link(group, isOrdered, HDF5Names.take, context)
        return try names.checked(status, at: place, what: "objects")
    }
}

/// Collects the names that libhdf5 returns one by one.
final class HDF5Names {
    private var names: [String] = []
    private var hasInvalid = false
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    static let take: chdf5_visitor = { name, _, context in
        let names = Unmanaged<HDF5Names>.fromOpaque(context!).takeUnretainedValue()
        guard names.names.count < names.limit else { return 1 }
        guard let name = name.flatMap({ String(validatingCString: $0) }) else {
            names.hasInvalid = true
            return 1
        }
        names.names.append(name)
        return 0
    }

    /// The names, if the walk that ended with `status` succeeded.
    func checked(
        _ status: Int32, at place: FilePlace, what: String
    ) throws(TensorFileError) -> [String] {
        try place.check(status, "its \(what) cannot be listed")
        guard !hasInvalid else {
            throw place.error(.damaged, "contains a name that is not UTF-8")
        }
        guard status == 0 else {
            throw place.error(.refused, "more than \(limit) \(what); raise the limits to read it")
        }
        return names
    }
}

/// Collects the datasets below a group.
struct HDF5Walk {
    let path: String
    let limits: TensorFileLimits
    private(set) var datasets: [HDF5DatasetEntry] = []
    private var objects = 0
    private var groups: Set<UInt64> = []

    init(path: String, limits: TensorFileLimits) {
        self.path = path
        self.limits = limits
    }

    mutating func visit(
        _ object: consuming HDF5Handle, as names: [String]
    ) throws(TensorFileError) {
        let place = FilePlace(path, names.joined(separator: "/"))
        var type: Int32 = 0
        var address: UInt64 = 0
        try place.check(chdf5_object_info(object.id, &type, &address), "cannot be examined")
        switch type {
        case H5O_TYPE_DATASET.rawValue:
            datasets.append(HDF5DatasetEntry(names, try HDF5OpenDataset(object, at: place)))
        case H5O_TYPE_GROUP.rawValue: try enter(object.id, address, as: names, at: place)
        default: throw place.error(.refused, "is neither a group nor a dataset")
        }
    }

    private mutating func enter(
        _ group: hid_t, _ address: UInt64, as names: [String], at place: FilePlace
    ) throws(TensorFileError) {
        // A group that is visited twice could make the walk endless or exponential.
        guard groups.insert(address).inserted else {
            throw place.error(.refused, "is a group that is linked twice in the file")
        }
        guard names.count <= limits.depth else {
            throw place.error(.refused, "groups are nested over \(limits.depth) deep")
        }
        let entries = try HDF5Link.all(in: group, at: place, limit: limits.objects - objects)
        objects += entries.count
        for name in entries {
            let child = FilePlace(path, (names + [name]).joined(separator: "/"))
            try visit(HDF5Link.open(name, in: group, at: child), as: names + [name])
        }
    }
}
