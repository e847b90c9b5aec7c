import RetintFiles

/// A torch.save file whose pickle has been read: the bytes of the storages.
protocol PyTorchContainer: Sendable {
    /// Opens a file and reads its pickle.
    ///
    /// - Returns: the file, and the object that was saved.
    static func open(
        _ file: RegularFile, limits: TensorFileLimits
    ) throws(TensorFileError) -> (Self, PickleValue)

    var isBigEndian: Bool { get }

    /// Where the bytes of a storage are in the file.
    ///
    /// - Throws: ``TensorFileError`` if they are missing, or their number is wrong.
    func range(
        of storage: PyTorchStorage, _ place: FilePlace
    ) throws(TensorFileError) -> Range<Int>

    /// Throws if the bytes of a storage do not match their checksum, if there is one.
    func verify(_ storage: PyTorchStorage) throws(TensorFileError)
}
