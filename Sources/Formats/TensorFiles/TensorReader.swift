public import RetintFiles
public import RetintTensors

/// An open file of named tensors in one of the formats.
public protocol TensorReader: Sendable {
    /// The path of the file.
    var path: String { get }
    /// The format of the file.
    var format: TensorFileFormat { get }

    /// The names of the tensors, in the order of the file.
    func tensorNames() throws(TensorFileError) -> [String]

    /// The shape of a tensor, without reading it.
    func shape(of name: String) throws(TensorFileError) -> Shape

    /// How a tensor's elements are stored, without reading them.
    func storedType(of name: String) throws(TensorFileError) -> StoredType

    /// Reads a tensor.
    ///
    /// - Parameter expected: A shape to check before memory is allocated; nil allows any.
    func read(
        _ name: String, expecting expected: Shape?
    ) throws(TensorFileError) -> StoredTensor

    /// Reads all tensors as a state dict. See `StateDict.init(contentsOf:limits:expecting:)`.
    func stateDict(expecting expected: [String: Shape]?) throws(TensorFileError) -> StateDict
}

/// Opens a file of tensors, whose format is recognized by its content.
///
/// - Parameter key: The key of the state dict in a PyTorch file that holds several; see
///   `PyTorchReader.init(path:limits:key:)`. Files of other formats have none.
/// - Throws: ``TensorFileError`` if it cannot be read, is damaged or of another format.
public func openTensorFile(
    _ path: some PathConvertible, limits: TensorFileLimits = .default, key: String? = nil
) throws(TensorFileError) -> any TensorReader {
    let format = try TensorFileFormat(ofFileAt: path)
    guard key == nil || format == .pytorch else {
        throw TensorFileError(
            .notFound, path: path.filePath.string,
            "is a \(format.title) file, whose tensors lie under no key; leave it out")
    }
    return switch format {
    case .hdf5: try HDF5Reader(path: path, limits: limits)
    case .safetensors: try SafetensorsReader(path: path, limits: limits)
    case .pytorch: try PyTorchReader(path: path, limits: limits, key: key)
    }
}

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
    ///   is not one of ``StoredType``, or if it is a Keras file.
    public func stateDict(
        expecting expected: [String: Shape]?
    ) throws(TensorFileError) -> StateDict {
        try StateDict(from: self, expecting: expected)
    }
}
