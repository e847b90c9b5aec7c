public import TensorGraph

extension StateDict {
    /// Reads a state dict from an HDF5 file: datasets named by the dotted key in the root group,
    /// or nested groups whose names make the key when joined by dots.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limits: how much is read before the file is refused.
    ///   - expected: the shapes of a model's tensors. Tensors of another shape or name are not
    ///     read but noted in ``unread``, for ``compare(expected:)`` to report. With nil all are
    ///     read.
    public init(
        contentsOf path: String, limits: HDF5Limits = .default, expecting expected: [String: Shape]?
    ) throws(TensorFileError) {
        let reader = try HDF5Reader(path: path, limits: limits)
        try self.init(from: reader, expecting: expected)
    }

    /// Reads a state dict from an open file. See `init(contentsOf:limits:expecting:)`.
    public init(
        from reader: HDF5Reader, expecting expected: [String: Shape]?
    ) throws(TensorFileError) {
        self.init()
        let path = reader.path
        try Self.refuseKeras(reader)
        var budget = reader.limits.totalBytes
        for components in try reader.datasetPaths(under: "") {
            let name = components.joined(separator: ".")
            guard self[name] == nil, unread[name] == nil else {
                throw TensorFileError(
                    .damaged, path: path, place: name.debugDescription,
                    "stands in the file twice: as a dotted name and in groups")
            }
            try HDF5Library.run { () throws(TensorFileError) in
                let dataset = try reader.dataset(components)
                if let expected, expected[name] != dataset.shape {
                    unread[name] = dataset.shape
                } else {
                    self[name] = try dataset.read(budget: budget)
                    budget -= dataset.byteCount
                }
            }
        }
    }

    /// Reads all tensors of an HDF5 file.
    public init(
        contentsOf path: String, limits: HDF5Limits = .default
    ) throws(TensorFileError) {
        try self.init(contentsOf: path, limits: limits, expecting: nil)
    }

    /// Writes an HDF5 file with one dataset per tensor in the root group, named by the dotted key.
    /// The file at `path` is replaced only when the new one is whole.
    public func write(to path: String) throws(TensorFileError) {
        let writer = try HDF5Writer(path: path)
        for (name, tensor) in self {
            guard !name.utf8.contains(UInt8(ascii: "/")) else {
                throw TensorFileError(
                    .unwritable, path: path, place: name.debugDescription,
                    "the name of a tensor cannot hold a slash")
            }
            try writer.write(tensor, to: name)
        }
        try writer.finish()
    }

    private static func refuseKeras(_ reader: HDF5Reader) throws(TensorFileError) {
        let marks = ["layer_names", "keras_version"]
        guard marks.contains(where: reader.rootHasAttribute) || reader.contains("model_weights")
        else { return }
        throw TensorFileError(
            .otherFormat, path: reader.path,
            "is a Keras file, which names and orders weights in its own way; "
                + "a PyTorch state dict is needed, as Scripts/export_pytorch.py writes it")
    }
}
