import Glibc
import RetintLocks
import SystemPackage

/// Reserves a file or folder that this process is going to write, so that a second process that
/// writes the same one is refused.
///
/// A hidden file next to the output is locked, and removed at the end. This process may lock an
/// output more than once.
package final class OutputLock {
    private static let held = Mutex<[FilePath: (file: LockFile, count: Int)]>([:])
    private let path: FilePath

    /// Locks an output.
    ///
    /// - Throws: ``FileError`` if another process writes it, or if nothing can be written there.
    package convenience init(_ output: some PathConvertible) throws(FileError) {
        let path = output.filePath
        try self.init(AtomicFile.resolve(path), for: path)
    }

    /// - Parameters:
    ///   - target: the output without symbolic links.
    ///   - output: the path in errors.
    init(_ target: FilePath, for output: FilePath) throws(FileError) {
        try FolderLock.check(target, for: output)
        path = lockPath(beside: target)
        let key = path
        try Self.held.withLock { (held) throws(FileError) in
            if held[key] == nil { held[key] = (try LockFile(key, keeping: output), 0) }
            held[key]?.count += 1
        }
    }

    /// Removes the files of all locks of this process, which is about to end and with it the locks.
    static func removeFiles() {
        held.withLock { held in
            for lock in held.keys { unlink(lock.string) }
        }
    }

    deinit {
        let key = path
        Self.held.withLock { held in
            held[key]?.count -= 1
            if held[key]?.count == 0 { held[key] = nil }
        }
    }
}
