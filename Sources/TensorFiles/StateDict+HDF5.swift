public import TensorGraph

extension StateDict {
    /// Reads a state dict from an open HDF5 file: datasets named by the dotted key in the root
    /// group, or nested groups whose names make the key when joined by dots. See
    /// `init(contentsOf:limits:expecting:)`.
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
            let dataset = try reader.dataset(components)
            guard wants(name, dataset.shape, expecting: expected) else { continue }
            self[name] = try reader.read(dataset, budget: budget)
            budget -= dataset.byteCount
        }
    }

    /// Writes an HDF5 file with one dataset per tensor in the root group, named by the dotted key.
    func writeHDF5(to path: String) throws(TensorFileError) {
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
                + "a PyTorch state dict is needed, as Scripts/python/export_pytorch.py writes it")
    }
}
