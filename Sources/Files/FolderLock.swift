import Glibc
import SystemPackage

/// Keeps a folder for one process, by a locked file `.lock` in it.
///
/// The kernel gives the lock up when the process ends, however it ends: a file that is left behind
/// locks nothing.
package final class FolderLock {
    private let path: FilePath
    private let descriptor: Int32

    /// Locks a folder, which must exist.
    ///
    /// - Throws: ``FileError`` if another process holds the lock, with that process, or if the file
    ///   cannot be created.
    package init(_ folder: some PathConvertible) throws(FileError) {
        path = folder.filePath.appending(".lock")
        descriptor = try Self.locked(path, in: folder.filePath)
        let owner = Array("\(getpid())\n".utf8)
        // What the file says helps people; the lock does not depend on it.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, owner, owner.count, 0) }
    }

    deinit {
        // Removed before it is unlocked, so that nobody locks a file that is no longer there.
        unlink(path.string)
        close(descriptor)
    }

    private static func locked(
        _ path: FilePath, in folder: FilePath
    ) throws(FileError) -> Int32 {
        while true {
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
            let descriptor = open(path.string, flags, 0o666)
            guard descriptor >= 0 else { throw FileError(path: path.string, operation: "write") }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                defer { close(descriptor) }
                throw FileError(
                    path: folder.string, operation: "write",
                    reason: "it is in use\(owner(descriptor).map { " by process \($0)" } ?? "")",
                    remedy: "wait for it to end, or choose another folder")
            }
            // The process that held it may have removed it meanwhile.
            if FileIdentity(of: path) == FileIdentity(descriptor: descriptor) { return descriptor }
            close(descriptor)
        }
    }

    private static func owner(_ descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int(String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self))
    }
}
