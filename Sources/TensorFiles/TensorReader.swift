public import TensorGraph

/// A file of named tensors, open for reading, in whichever format.
public protocol TensorReader: Sendable {
    var path: String { get }
    var format: TensorFileFormat { get }

    /// The tensors that the file holds, in its order.
    func tensorNames() throws(TensorFileError) -> [String]

    /// The shape of a tensor, without reading it.
    func shape(of name: String) throws(TensorFileError) -> Shape

    /// How a tensor's elements are stored, without reading them.
    func storedType(of name: String) throws(TensorFileError) -> StoredType

    /// Reads a tensor.
    ///
    /// - Parameter expected: a shape to check before memory is taken; nil takes any.
    func read(
        _ name: String, expecting expected: Shape?
    ) throws(TensorFileError) -> StoredTensor

    /// Reads all tensors as a state dict. See `StateDict.init(contentsOf:limits:expecting:)`.
    func stateDict(expecting expected: [String: Shape]?) throws(TensorFileError) -> StateDict
}

/// Opens the file at `path` in the format that it is of.
public func openTensorFile(
    _ path: String, limits: TensorFileLimits = .default
) throws(TensorFileError) -> any TensorReader {
    switch try TensorFileFormat(ofFileAt: path) {
    case .hdf5: try HDF5Reader(path: path, limits: limits)
    case .safetensors: try SafetensorsReader(path: path, limits: limits)
    }
}

extension HDF5Reader: TensorReader {
    public var format: TensorFileFormat { .hdf5 }

    /// The paths of all datasets.
    public func tensorNames() throws(TensorFileError) -> [String] { try datasetNames() }

    public func stateDict(
        expecting expected: [String: Shape]?
    ) throws(TensorFileError) -> StateDict {
        try StateDict(from: self, expecting: expected)
    }
}
