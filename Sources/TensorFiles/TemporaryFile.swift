import Foundation

/// A file that is written beside its place and takes the place when it is whole: under the path
/// there is always the old file or the new one.
final class TemporaryFile {
    /// The path that the caller asked for.
    let destination: String
    /// Where to write until then.
    let path: String
    /// What `destination` leads to when it is a symbolic link, otherwise the same.
    private let target: String
    private let descriptor: CInt
    private var isPublished = false

    /// Creates an empty file beside `destination`, with its permissions if it exists.
    init(for destination: String) throws(TensorFileError) {
        self.destination = destination
        target = realpath(destination, nil).map(String.init(consuming:)) ?? destination
        path = Self.unusedName(beside: target)
        var status = stat()
        let exists = stat(target, &status) == 0
        guard !exists || status.st_mode & S_IFMT != S_IFDIR else {
            throw TensorFileError(
                .unwritable, path: destination, "is a directory; give the path of a file")
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("cannot be created") }
        if exists { _ = fchmod(descriptor, status.st_mode & 0o777) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        if !isPublished { unlink(path) }
    }

    /// Appends bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(TensorFileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Foundation.write(descriptor, part.baseAddress, part.count)
            guard count >= 0 || errno == EINTR else { throw failure("cannot be written") }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    /// Makes the file durable and puts it in its place.
    func publish() throws(TensorFileError) {
        guard fsync(descriptor) == 0 else { throw failure("cannot be written out to the disk") }
        guard rename(path, target) == 0 else { throw failure("cannot be put in its place") }
        isPublished = true
        // The new file stands; only its name could still be lost in a crash of the machine.
        _ = Self.synchronize(Self.directory(of: target))
    }

    private func failure(_ what: String) -> TensorFileError {
        let reason = String(cString: strerror(errno))
        return TensorFileError(.unwritable, path: destination, "\(what): \(reason)")
    }

    private static func synchronize(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    private static func unusedName(beside target: String) -> String {
        let name = target.split(separator: "/").last.map(String.init) ?? ""
        let unique = String(UInt64.random(in: 0 ... .max), radix: 36)
        return "\(directory(of: target))/.\(name).\(getpid())-\(unique).tmp"
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension String {
    /// Copies a C string and frees it.
    fileprivate init(consuming text: UnsafeMutablePointer<CChar>) {
        self.init(cString: text)
        free(text)
    }
}
