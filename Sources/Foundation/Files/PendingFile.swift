import Glibc
import SystemPackage

/// A file written under a temporary name that replaces its destination once it is complete.
///
/// Unless ``publish()`` succeeds, the temporary file is removed with this object and the
/// destination stays as it was.
package final class PendingFile {
    /// The path that the caller requested.
    package let destination: FilePath
    /// The temporary file: new, empty, with the permissions of the file that it will replace.
    package let path: FilePath
    private let target: FilePath
    private let writer: FileWriter
    private let lock: OutputLock
    private var isPublished = false

    /// Creates the temporary file next to the destination. A symbolic link is followed: the file
    /// that it leads to is replaced, not the link.
    ///
    /// - Parameter keepingExtension: whether the temporary file has the destination's extension,
    ///   for a program that tells the format from it.
    package init(
        for destination: some PathConvertible, keepingExtension: Bool = false
    ) throws(FileError) {
        self.destination = destination.filePath
        target = try AtomicFile.resolve(self.destination)
        guard try FileKind(at: target, for: "write") != .directory else {
            throw AtomicFile.isDirectory(self.destination)
        }
        path = temporaryPath(beside: target, keepingExtension: keepingExtension)
        sweepLeftoversOnce(in: path.removingLastComponent())
        lock = try OutputLock(target, for: self.destination)
        writer = try FileWriter(creating: path, reportingAs: self.destination)
        if let mode = AtomicFile.mode(of: target) { writer.setMode(mode) }
    }

    deinit {
        if !isPublished { unlink(path.string) }
    }

    /// Appends bytes to the temporary file.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try writer.write(bytes)
    }

    /// Appends bytes to the temporary file.
    package func write(_ bytes: [UInt8]) throws(FileError) { try writer.write(bytes) }

    /// Waits until the file is on disk and puts it in place of the destination.
    package func publish() throws(FileError) {
        try writer.finish()
        try AtomicFile.move(path, to: target, for: destination)
        isPublished = true
        try AtomicFile.syncParent(of: target, for: destination)
    }
}
