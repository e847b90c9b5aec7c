import Glibc

/// A file open for reading, known to be a regular one: reading it neither waits nor has effects.
final class RegularFile: Sendable {
    let path: String
    let byteCount: Int
    private let descriptor: Int32

    /// Opens the file at `path`; a link to a file is followed.
    init(path: String) throws(TensorFileError) {
        self.path = path
        descriptor = try Self.open(path)
        do throws(TensorFileError) {
            byteCount = try Self.size(of: descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// Fills `bytes` with what stands from `offset` on.
    func read(
        into bytes: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(TensorFileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeMutableRawBufferPointer(rebasing: rest)
            let count = pread(
                descriptor, part.baseAddress, min(part.count, 1 << 30),
                offset + rest.startIndex)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Self.unreadable(path) }
            guard count > 0 else {
                throw TensorFileError(
                    .damaged, path: path, "breaks off: it was cut while it was read")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// The bytes from `offset` on, fewer where the file ends before.
    func bytes(at offset: Int, count: Int) throws(TensorFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(min(count, byteCount - offset), 0))
        var failure: TensorFileError?
        bytes.withUnsafeMutableBytes { buffer in
            do throws(TensorFileError) {
                try read(into: buffer, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}

extension RegularFile {
    private static func open(_ path: String) throws(TensorFileError) -> Int32 {
        guard !path.utf8.contains(0) else { throw unreadable(path, ENOENT) }
        // A pipe without a writer would block: it is opened without waiting, and then refused.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path) }
        return descriptor
    }

    private static func size(
        of descriptor: Int32, _ path: String
    ) throws(TensorFileError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            let what = isDirectory ? "is a directory" : "is not a regular file"
            throw TensorFileError(
                .unreadable, path: path, "\(what); give the path of a file of tensors")
        }
        return Int(status.st_size)
    }

    private static func unreadable(_ path: String, _ number: Int32 = errno) -> TensorFileError {
        TensorFileError(
            .unreadable, path: path, "cannot be read: \(String(cString: strerror(number)))")
    }
}
