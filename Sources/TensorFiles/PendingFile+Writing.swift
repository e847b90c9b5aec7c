import Files
import Glibc

extension PendingFile {
    /// Begins a file that will stand at `path`.
    static func begin(_ path: String) throws(TensorFileError) -> PendingFile {
        try TensorFileError.unwritable { () throws(FileError) in try PendingFile(for: path) }
    }

    /// Makes what `body` writes the file's content.
    func fill(
        _ place: FilePlace, _ body: (FileSink) throws(TensorFileError) -> Void
    ) throws(TensorFileError) {
        let sink = try FileSink(path, place)
        try body(sink)
    }

    /// Has the file reach the disk and puts it in its place.
    func finish() throws(TensorFileError) {
        try TensorFileError.unwritable { () throws(FileError) in try publish() }
    }
}

/// A file that is written from its start on.
final class FileSink {
    private let descriptor: Int32
    private let place: FilePlace

    /// - Parameter place: what errors name.
    init(_ path: String, _ place: FilePlace) throws(TensorFileError) {
        self.place = place
        descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TensorFileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor, part.baseAddress, part.count)
            guard count >= 0 || errno == EINTR else { throw failure }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    private var failure: TensorFileError {
        place.error(.unwritable, "cannot be written: \(String(cString: strerror(errno)))")
    }
}

extension TensorFileError {
    /// Tells an error of the file system as one of a file of tensors.
    static func unwritable<Result>(
        _ body: () throws(FileError) -> Result
    ) throws(TensorFileError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            let way = error.remedy.isEmpty ? "" : "; \(error.remedy)"
            throw TensorFileError(
                .unwritable, path: error.path, "cannot \(error.operation): \(error.reason)\(way)")
        }
    }
}
