import RetintFiles
public import RetintTensors

extension HDF5Reader: TensorReader {
    /// The format, which is HDF5.
    public var format: TensorFileFormat { .hdf5 }

    /// The paths of all datasets.
    public func tensorNames() throws(TensorFileError) -> [String] { try datasetNames() }

    /// Reads all tensors as a state dict.
    ///
    /// - Parameter expected: The shapes of a model's tensors by name; tensors of another shape or
    ///   name are not read but listed in ``StateDict/unread``. If nil, all are read.
    /// - Throws: ``TensorFileError`` if a dataset exceeds the limits, is damaged or of a type that
    ///   is none of ``StoredType``, or if the file is Keras's.
    public func stateDict(
        expecting expected: [String: Shape]?
    ) throws(TensorFileError) -> StateDict {
        try StateDict(from: self, expecting: expected)
    }
}

extension HDF5Reader {
    static func open(
        _ path: String, _ limits: TensorFileLimits, key: String?
    ) throws(TensorFileError) -> any TensorReader {
        try HDF5Reader(path: path, limits: limits)
    }

    /// Whether HDF5's signature stands at the start or, after a user block, at 512, 1024, 2048 …,
    /// where it could as well be among the elements of a safetensors file.
    static func recognizes(
        _ file: RegularFile, start: [UInt8]
    ) throws(TensorFileError) -> Bool {
        guard !SafetensorsHeader.begins(start) else { return false }
        let signature = Array("\u{89}HDF\r\n\u{1a}\n".unicodeScalars.map { UInt8($0.value) })
        var offset = 0
        while offset < file.byteCount {
            if try file.head(signature.count, at: offset) == signature { return true }
            offset = max(512, offset * 2)
        }
        return false
    }
}
