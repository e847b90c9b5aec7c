import Glibc
import SystemPackage

/// Writes a new file from its start, or appends to an existing one.
package final class FileWriter {
    /// The path in errors.
    private let reported: FilePath
    private var descriptor: Int32

    /// Creates an empty file; nothing may be at `path`.
    ///
    /// - Parameter reported: The path in errors; nil for `path`.
    package init(
        creating path: FilePath, reportingAs reported: FilePath? = nil
    ) throws(FileError) {
        self.reported = reported ?? path
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        descriptor = path.withPlatformString { open($0, flags, 0o666) }
        guard descriptor >= 0 else { throw failure }
    }

    /// Opens a file for appending.
    package init(appendingTo path: some PathConvertible) throws(FileError) {
        reported = path.filePath
        let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        descriptor = reported.withPlatformString { open($0, flags) }
        guard descriptor >= 0 else { throw failure }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sets the permissions of the file.
    func setMode(_ mode: mode_t) { fchmod(descriptor, mode) }

    /// Appends bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor, part.baseAddress, part.count)
            guard count >= 0 || errno == EINTR else { throw failure }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        var error: FileError?
        bytes.withUnsafeBytes { bytes in
            do throws(FileError) { try write(bytes) } catch let failure { error = failure }
        }
        if let error { throw error }
    }

    /// Appends all bytes, or, if that fails, none of them.
    package func append(_ bytes: [UInt8]) throws(FileError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure }
        do {
            try write(bytes)
        } catch {
            ftruncate(descriptor, status.st_size)
            throw error
        }
    }

    /// Continues writing at the file's start, overwriting it.
    package func rewind() throws(FileError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure }
    }

    /// Closes the file once it is on disk. Nothing can be written afterwards.
    package func finish() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw failure }
        let result = close(descriptor)
        descriptor = -1
        // Network file systems may report a full disk only when a file is closed.
        guard result == 0 else { throw failure }
    }

    /// The error of the system call that failed last.
    private var failure: FileError { FileError(path: reported.string, operation: "write") }
}
