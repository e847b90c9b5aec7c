import RetintFiles

/// A file of torch.save, whose pickle was read: the bytes of the storages.
protocol PyTorchContainer: Sendable {
    /// Opens a file and reads its pickle.
    ///
    /// - Returns: the file, and the object that was saved.
    static func open(
        _ file: RegularFile, limits: TensorFileLimits
    ) throws(TensorFileError) -> (Self, PickleValue)

    var isBigEndian: Bool { get }

    /// Where the bytes of a storage lie in the file.
    ///
    /// - Throws: ``TensorFileError`` if they are not there, or not as many as there should be.
    func range(
        of storage: PyTorchStorage, _ place: FilePlace
    ) throws(TensorFileError) -> Range<Int>

    /// Throws if the bytes of a storage do not have their checksum, where there is one.
    func verify(_ storage: PyTorchStorage) throws(TensorFileError)
}
