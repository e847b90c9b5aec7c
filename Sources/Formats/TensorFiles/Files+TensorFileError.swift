import RetintFiles

extension RegularFile {
    /// Opens a file that should hold tensors.
    static func open(_ path: some PathConvertible) throws(TensorFileError) -> RegularFile {
        try TensorFileError.converting(.unreadable) { () throws(FileError) in
            try RegularFile(path)
        }
    }

    /// Opens a file that another file names, see ``init(_:beneath:)``.
    static func open(
        _ name: String, beneath folder: some PathConvertible
    ) throws(TensorFileError) -> RegularFile {
        try TensorFileError.converting(.unreadable) { () throws(FileError) in
            try RegularFile(name, beneath: folder)
        }
    }

    /// ``bytes(at:count:)`` with the errors of this module.
    func head(_ count: Int, at offset: Int = 0) throws(TensorFileError) -> [UInt8] {
        try TensorFileError.converting(.unreadable) { () throws(FileError) in
            try bytes(at: offset, count: min(count, max(byteCount - offset, 0)))
        }
    }

    /// ``read(into:at:)`` with the errors of this module.
    func fill(
        _ bytes: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(TensorFileError) {
        try TensorFileError.converting(.damaged) { () throws(FileError) in
            try read(into: bytes, at: offset)
        }
    }

    /// ``checkUnchanged()`` with the errors of this module.
    func requireUnchanged() throws(TensorFileError) {
        try TensorFileError.converting(.damaged) { () throws(FileError) in try checkUnchanged() }
    }
}

extension PendingFile {
    /// Starts a file that will replace the one at `path`.
    static func start(_ path: some PathConvertible) throws(TensorFileError) -> PendingFile {
        try TensorFileError.converting(.unwritable) { () throws(FileError) in
            try PendingFile(for: path)
        }
    }

    /// ``write(_:)`` with the errors of this module.
    func append(_ bytes: UnsafeRawBufferPointer) throws(TensorFileError) {
        try TensorFileError.converting(.unwritable) { () throws(FileError) in try write(bytes) }
    }

    /// ``publish()`` with the errors of this module.
    func finish() throws(TensorFileError) {
        try TensorFileError.converting(.unwritable) { () throws(FileError) in try publish() }
    }
}

extension TensorFileError {
    /// Runs calls of `Files`, reporting their errors as those of a tensor file.
    fileprivate static func converting<Result>(
        _ kind: Kind, _ body: () throws(FileError) -> Result
    ) throws(TensorFileError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            throw TensorFileError(kind, file: error.file, rule: error.rule, remedy: error.remedy)
        }
    }
}
