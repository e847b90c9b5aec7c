public import RetintFiles
public import RetintTensors

extension StateDict {
    /// Reads a state dict from an HDF5, safetensors or PyTorch file, recognized by its content.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limits: Larger files are refused.
    ///   - expected: The shapes of a model's tensors by name. Tensors of another shape or name are
    ///     not read but recorded in ``unread``, which ``compare(expected:)`` reports. If nil, all
    ///     are read.
    ///   - key: The key of the state dict in a PyTorch file that contains several.
    /// - Throws: ``TensorFileError``.
    public init(
        contentsOf path: some PathConvertible, limits: TensorFileLimits = .default,
        expecting expected: [String: Shape]?, key: String? = nil
    ) throws(TensorFileError) {
        self = try openTensorFile(path, limits: limits, key: key).stateDict(expecting: expected)
    }

    /// Reads all tensors of a file.
    ///
    /// - Throws: ``TensorFileError``.
    public init(
        contentsOf path: some PathConvertible, limits: TensorFileLimits = .default
    ) throws(TensorFileError) {
        try self.init(contentsOf: path, limits: limits, expecting: nil)
    }

    /// Writes a safetensors file if the path ends in `.safetensors`, an HDF5 file otherwise. An
    /// existing file is replaced once the new one is complete. PyTorch's format is not written.
    ///
    /// - Throws: ``TensorFileError`` of the kind `unwritable`.
    public func write(to path: some PathConvertible) throws(TensorFileError) {
        let path = path.filePath.string
        switch TensorFileFormat(extensionOf: path) {
        case .safetensors:
            // Some loaders need this entry to recognize the layout as PyTorch's.
            try SafetensorsWriter(path: path, self, metadata: ["format": "pt"]).write()
        case .hdf5, nil: try writeHDF5(to: path)
        case .pytorch:
            throw TensorFileError(
                .unwritable, path: path,
                "PyTorch's own format is read but not written; use .safetensors or .h5")
        }
    }

    /// Whether a tensor of a file is to be read; records its shape if not.
    mutating func wants(
        _ name: String, _ shape: Shape, expecting expected: [String: Shape]?
    ) -> Bool {
        guard let expected, expected[name] != shape else { return true }
        unread[name] = shape
        return false
    }
}
