public import TensorGraph

extension StateDict {
    /// Reads a state dict from an HDF5 or a safetensors file, whatever it is by its content.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limits: how much is read before the file is refused.
    ///   - expected: the shapes of a model's tensors. Tensors of another shape or name are not
    ///     read but noted in ``unread``, for ``compare(expected:)`` to report. With nil all are
    ///     read.
    public init(
        contentsOf path: String, limits: TensorFileLimits = .default,
        expecting expected: [String: Shape]?
    ) throws(TensorFileError) {
        self = try openTensorFile(path, limits: limits).stateDict(expecting: expected)
    }

    /// Reads all tensors of a file.
    public init(
        contentsOf path: String, limits: TensorFileLimits = .default
    ) throws(TensorFileError) {
        try self.init(contentsOf: path, limits: limits, expecting: nil)
    }

    /// Writes a safetensors file where the path ends in `.safetensors`, and an HDF5 file elsewhere.
    /// The file at `path` is replaced only when the new one is whole.
    public func write(to path: String) throws(TensorFileError) {
        switch TensorFileFormat(extensionOf: path) {
        case .safetensors:
            // The text tells loaders that look for it that the tensors are laid out as PyTorch's.
            try SafetensorsWriter(path: path, self, metadata: ["format": "pt"]).write()
        case .hdf5, nil: try writeHDF5(to: path)
        }
    }

    /// Whether a tensor of a file is to be read; notes its shape if it is not.
    mutating func wants(
        _ name: String, _ shape: Shape, expecting expected: [String: Shape]?
    ) -> Bool {
        guard let expected, expected[name] != shape else { return true }
        unread[name] = shape
        return false
    }
}
