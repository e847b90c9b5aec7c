public import RetintFiles
public import RetintTensors

/// An open file of named tensors in one of the formats.
public protocol TensorReader: Sendable {
    /// The path of the file.
    var path: String { get }
    /// The format of the file.
    var format: TensorFileFormat { get }
    /// The texts that the file holds beside its tensors, by key; nil if its format has none.
    var texts: [String: String]? { get }

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
package func openTensorFile(
    _ path: some PathConvertible, limits: TensorFileLimits = .default, key: String? = nil
) throws(TensorFileError) -> any TensorReader {
    try TensorFileFormat(ofFileAt: path).open(path.filePath.string, limits, key: key)
}

extension TensorReader {
    /// No texts, as in most formats.
    public var texts: [String: String]? { nil }
}
