import Glibc

/// A file that someone else's code writes beside its place, and that takes the place when it is
/// whole. Unless ``publish()`` is called, it disappears with this object.
package final class PendingFile {
    /// The path that the caller asked for.
    package let destination: String
    /// Where to write until then: an empty file with the permissions of the one it will replace.
    package let path: String
    private let target: String
    private var isPublished = false

    package init(for destination: String) throws(FileError) {
        self.destination = destination
        target = try AtomicFile.resolve(destination)
        guard try FileKind(at: target) != .directory else {
            throw AtomicFile.isDirectory(destination)
        }
        path = AtomicFile.temporaryPath(beside: target)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileError(path: destination, operation: "write") }
        if let mode = AtomicFile.mode(of: target) { fchmod(descriptor, mode) }
        close(descriptor)
    }

    deinit {
        if !isPublished { unlink(path) }
    }

    /// Has the file reach the disk and puts it in its place.
    package func publish() throws(FileError) {
        try AtomicFile.install(path, at: target, marker: nil, for: destination)
        isPublished = true
    }
}
