public import RetintTensors

extension StateDict {
    /// Reads a state dict from an open HDF5 file: datasets named by the dotted key in the root
    /// group, or nested groups whose names make the key when joined by dots. See
    /// `init(contentsOf:limits:expecting:)`.
    public init(
        from reader: HDF5Reader, expecting expected: [String: Shape]?
    ) throws(TensorFileError) {
        self.init()
        var budget = reader.budget
        for (name, dataset) in try reader.namedDatasets() {
            guard wants(name, dataset.shape, expecting: expected) else { continue }
            self[name] = try reader.read(dataset, &budget)
        }
    }

    /// Writes an HDF5 file with one dataset per tensor in the root group, named by the dotted key.
    func writeHDF5(to path: String) throws(TensorFileError) {
        let writer = try HDF5Writer(path: path)
        for (name, tensor) in self {
            guard !name.utf8.contains(UInt8(ascii: "/")) else {
                throw TensorFileError(
                    .unwritable, path: path, place: name.debugDescription,
                    "the name of a tensor cannot contain a slash")
            }
            try writer.write(tensor, to: name)
        }
        try writer.finish()
    }

}

extension HDF5Reader {
    /// All datasets by dotted name, checked except for their elements, in the order of the file.
    func namedDatasets() throws(TensorFileError) -> [(name: String, dataset: HDF5Dataset)] {
        try refuseKeras()
        var known: Set<String> = []
        return try datasetPaths(under: "").map { (components) throws(TensorFileError) in
            let name = components.joined(separator: ".")
            guard known.insert(name).inserted else {
                throw TensorFileError(
                    .damaged, path: path, place: name.debugDescription,
                    "is in the file twice: as a dotted name and in groups")
            }
            return (name, try dataset(components))
        }
    }

    private func refuseKeras() throws(TensorFileError) {
        let marks = ["layer_names", "keras_version"]
        guard marks.contains(where: rootHasAttribute) || contains("model_weights")
        else { return }
        throw TensorFileError(
            .otherFormat, path: path,
            "is a Keras file, which names and orders weights in its own way; "
                + "a PyTorch state dict is needed, as written by "
                + "`python3 -m retint.export_pytorch` (Scripts/python/export_pytorch.py)")
    }
}
