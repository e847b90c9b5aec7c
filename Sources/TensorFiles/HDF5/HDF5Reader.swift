import CHDF5
public import Files
public import TensorGraph

/// Reads tensors and attributes of an untrusted HDF5 file.
///
/// No other file is ever opened: links other than hard links, external storage, virtual datasets
/// and filters other than deflate, shuffle and Fletcher-32 are refused. Sizes are checked against
/// the limits and the file before memory is allocated. Several threads may share a reader; they are
/// serialized.
public final class HDF5Reader: Sendable {
    /// The path of the file.
    public let path: String
    /// The limits beyond which tensors and attributes are refused.
    public let limits: TensorFileLimits
    private let file: HDF5OpenFile

    /// Opens a file for reading.
    public init(
        path: some PathConvertible, limits: TensorFileLimits = .default
    ) throws(TensorFileError) {
        let path = path.filePath.string
        file = try HDF5Library.run { () throws(TensorFileError) in
            try HDF5Opening.open(path)
        }
        self.path = path
        self.limits = limits
    }

    /// The datasets below a group, as paths relative to it (`inputs/input`), in the order of
    /// creation if the file records it and by name otherwise.
    ///
    /// - Parameter group: A path such as `activations`; empty for the whole file.
    public func datasetNames(under group: String = "") throws(TensorFileError) -> [String] {
        try datasetPaths(under: group).map { $0.joined(separator: "/") }
    }

    /// Reads a tensor.
    ///
    /// - Parameters:
    ///   - name: A path such as `outputs/output`, or a dotted name in the root group.
    ///   - expected: A shape to check before memory is allocated; nil allows any.
    public func read(
        _ name: String, expecting expected: Shape? = nil
    ) throws(TensorFileError) -> StoredTensor {
        try HDF5Library.run { () throws(TensorFileError) in
            let dataset = try dataset(components(of: name))
            if let expected, expected != dataset.shape {
                throw dataset.place.error(
                    .mismatch, "has shape \(dataset.shape) where \(expected) is expected")
            }
            return try dataset.read(budget: limits.totalBytes)
        }
    }

    /// Whether there is a dataset or group of that name.
    public func contains(_ name: String) -> Bool {
        HDF5Library.run { (try? open(components(of: name))) != nil }
    }

    /// The shape of a tensor, without reading it.
    public func shape(of name: String) throws(TensorFileError) -> Shape {
        try HDF5Library.run { () throws(TensorFileError) in
            try dataset(components(of: name)).shape
        }
    }

    /// How a tensor's elements are stored, without reading them.
    public func storedType(of name: String) throws(TensorFileError) -> StoredType {
        try HDF5Library.run { () throws(TensorFileError) in
            try dataset(components(of: name)).type.stored
        }
    }

    /// The attributes of a group or dataset by name.
    ///
    /// - Parameter object: The path; empty for the root group.
    public func attributes(
        of object: String = ""
    ) throws(TensorFileError) -> [String: HDF5Attribute] {
        try HDF5Library.run { () throws(TensorFileError) in
            let opened = try open(components(of: object))
            return try HDF5Attributes.read(
                of: opened.id, at: FilePlace(path, object), limits: limits)
        }
    }
}

extension HDF5Reader {
    /// The paths of the datasets below a group, component by component.
    func datasetPaths(under group: String) throws(TensorFileError) -> [[String]] {
        try HDF5Library.run { () throws(TensorFileError) in
            var walk = HDF5Walk(path: path, limits: limits)
            let names = components(of: group)
            let opened = try open(names)
            try walk.visit(opened.id, as: names)
            return walk.datasets.map { Array($0.dropFirst(names.count)) }
        }
    }

    /// Opens a dataset and checks it, except for its elements.
    func dataset(_ components: [String]) throws(TensorFileError) -> HDF5Dataset {
        let place = FilePlace(path, components.joined(separator: "/"))
        return try HDF5Dataset.examine(
            open(components), at: place, fileBytes: file.byteCount, limits: limits)
    }

    /// Whether the root group has an attribute of that name.
    func rootHasAttribute(_ name: String) -> Bool {
        HDF5Library.run { H5Aexists(file.handle.id, name) > 0 }
    }

    /// Opens the object at a path, following hard links only.
    private func open(_ components: [String]) throws(TensorFileError) -> HDF5Handle {
        let place = FilePlace(path, components.joined(separator: "/"))
        var object = try place.handle(
            H5Gopen2(file.handle.id, "/", chdf5_default()), "the root group cannot be opened")
        for name in components {
            object = try HDF5Link.open(name, in: object.id, at: place)
        }
        return object
    }

    private func components(of name: String) -> [String] {
        name.split(separator: "/").map(String.init)
    }
}
