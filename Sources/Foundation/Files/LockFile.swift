import Glibc
import SystemPackage

/// A locked file, in which the process that holds the lock identifies itself.
///
/// The kernel releases the lock when the process ends, however it ends: a leftover file
/// locks nothing. Systems without locks, such as some network drives, grant every lock.
final class LockFile {
    /// The holder of a lock.
    struct Holder {
        /// Its process ID; nil if it has not written it yet.
        let process: Int?
        /// The other lines that it has written.
        let lines: [String]
    }

    let path: FilePath
    private let descriptor: Int32

    /// Creates and locks a file.
    ///
    /// - Parameters:
    ///   - target: the locked file or folder, for errors.
    ///   - lines: information for other processes.
    /// - Throws: ``FileError`` if another holder has the lock, with that process, or if the file
    ///   cannot be created.
    init(_ path: FilePath, keeping target: FilePath, lines: [String] = []) throws(FileError) {
        self.path = path
        descriptor = try Self.locked(path, target)
        let text = Array((["\(getpid())"] + lines).map { "\($0)\n" }.joined().utf8)
        // The contents of the file are for people; the lock does not depend on them.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    deinit {
        // Removed before it is unlocked, so that nobody locks a file that is no longer there.
        unlink(path.string)
        close(descriptor)
    }

    /// The holder of a lock, which may be this process; nil if nobody holds it.
    static func holder(of path: FilePath) -> Holder? {
        // Opening a pipe would block.
        let descriptor = open(path.string, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            isBusy(flock(descriptor, LOCK_SH | LOCK_NB))
        else { return nil }
        return holder(descriptor)
    }

    private static func locked(
        _ path: FilePath, _ target: FilePath
    ) throws(FileError) -> Int32 {
        var attempts = 0
        while true {
            attempts += 1
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            let descriptor = open(path.string, flags, 0o666)
            guard descriptor >= 0 else { throw FileError(path: target.string, operation: "write") }
            guard !isBusy(patientLock(descriptor)) else {
                defer { close(descriptor) }
                throw inUse(target, by: holder(descriptor))
            }
            // The process that held it may have removed it meanwhile. Some drives renumber files
            // at every request.
            let isThere = FileIdentity(of: path) == FileIdentity(descriptor: descriptor)
            guard isThere || attempts == 100 else {
                close(descriptor)
                continue
            }
            guard let links = linksOfLock(descriptor) else {
                close(descriptor)
                throw isForeign(path, for: target)
            }
            if links <= 1 || attempts == 100 { return descriptor }
            // The other name is that of a copy, which keeps its content.
            unlink(path.string)
            close(descriptor)
        }
    }

    /// The names of a locked file that a lock has written, or that is empty; nil for any other
    /// file, which must be neither emptied nor removed.
    private static func linksOfLock(_ descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        let isOurs = status.st_size == 0 || isLockText(descriptor)
        return isOurs ? Int(status.st_nlink) : nil
    }

    /// Whether a file begins with the line of a process, or has only zeros, as after a power loss.
    private static func isLockText(_ descriptor: Int32) -> Bool {
        var first: UInt8 = 1
        if pread(descriptor, &first, 1, 0) == 1, first == 0 { return true }
        return holder(descriptor).process != nil
    }

    private static func isForeign(_ path: FilePath, for target: FilePath) -> FileError {
        FileError(
            path: target.string, operation: "write",
            reason: "its lock \(path.string) is not a file that retint wrote",
            remedy: "rename or remove that file")
    }

    static func inUse(_ target: FilePath, by holder: Holder) -> FileError {
        let process = holder.process.map { " by process \($0)" } ?? ""
        return FileError(
            path: target.string, operation: "write", reason: "it is in use\(process)",
            remedy: "wait for it to end, or choose another place", errorNumber: EBUSY)
    }

    /// Tries for a moment: a process that only checks the lock holds it for an instant.
    private static func patientLock(_ descriptor: Int32) -> Int32 {
        for _ in 0..<5 where isBusy(flock(descriptor, LOCK_EX | LOCK_NB)) { usleep(10_000) }
        return flock(descriptor, LOCK_EX | LOCK_NB)
    }

    private static func isBusy(_ result: Int32) -> Bool { result != 0 && errno == EWOULDBLOCK }

    private static func holder(_ descriptor: Int32) -> Holder {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        return Holder(process: lines.first.flatMap { Int($0) }, lines: Array(lines.dropFirst()))
    }
}
