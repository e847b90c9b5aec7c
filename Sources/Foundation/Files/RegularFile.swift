import Glibc
import SystemPackage

/// An open file that is known to be a regular one: reading it neither blocks nor has side effects.
///
/// Reads name their offset, so several threads may share the object.
package final class RegularFile: Sendable {
    package let path: FilePath
    /// The size when the file was opened.
    package let byteCount: Int
    package let descriptor: Int32
    /// The time of the last change when the file was opened.
    private let changed: timespec

    /// One call to the system moves no more than this; Linux itself stops below 2 GiB.
    private static let largestTransfer = 1 << 30

    /// Opening a pipe without a writer would block, so files are opened non-blocking.
    private static let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK

    /// Opens a file for reading.
    ///
    /// - Parameter followingLinks: Whether a symbolic link at `path` itself is followed or refused.
    /// - Throws: ``FileError`` if it cannot be opened or is not a regular file.
    package convenience init(
        _ path: some PathConvertible, followingLinks: Bool = true
    ) throws(FileError) {
        let path = path.filePath
        let flags = Self.flags | (followingLinks ? 0 : O_NOFOLLOW)
        try self.init(descriptor: path.withPlatformString { Glibc.open($0, flags) }, path)
    }

    /// Opens a file that another file names, at a place below a folder. The folder may be reached
    /// through links; below it, none is followed.
    ///
    /// - Parameter name: The path in the folder.
    /// - Throws: ``FileError`` if the path could lead out of the folder, has a symbolic link or
    ///   cannot be opened, or if the file is not a regular one.
    package convenience init(
        _ name: String, beneath folder: some PathConvertible
    ) throws(FileError) {
        let path = folder.filePath.pushing(FilePath(name))
        if let flaw = RelativePath.flaw(in: name) {
            throw FileError(path: path.string, operation: "read", reason: "its path: \(flaw)")
        }
        try self.init(descriptor: Self.open(name, beneath: folder.filePath), path)
    }

    /// Takes over a descriptor that was just opened; a negative one is the failure in `errno`.
    private init(descriptor: Int32, _ path: FilePath) throws(FileError) {
        (self.descriptor, self.path) = (descriptor, path)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        do throws(FileError) {
            (byteCount, changed) = try Self.state(of: descriptor, path)
            try Self.requireContent(of: descriptor, byteCount, path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    /// The size and the time of the last change: a file in which either differs is another one.
    package var version: String {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return "\(byteCount) bytes" }
        let time = status.st_mtim
        return "\(byteCount) bytes, changed at \(time.tv_sec) s + \(time.tv_nsec) ns"
    }

    /// Throws if the file was modified since it was opened. A file that was replaced by another one
    /// at its path has not changed.
    package func checkUnchanged() throws(FileError) {
        let (size, time) = try Self.state(of: descriptor, path)
        guard size == byteCount, time.tv_sec == changed.tv_sec, time.tv_nsec == changed.tv_nsec
        else {
            throw FileError(
                path: path.string, operation: "read", reason: "it was changed while it was in use",
                remedy: "open it again; to change a file that is in use, write a new one and "
                    + "rename it")
        }
    }

    /// Fills `bytes` with those of the file from `offset` on.
    ///
    /// - Throws: ``FileError`` if the file ends before that or cannot be read.
    package func read(
        into bytes: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileError) {
        let count = try transfer(into: bytes, at: offset)
        guard count == bytes.count else {
            throw FileError(
                path: path.string, operation: "read",
                reason: "it ends before byte \(offset + bytes.count)",
                remedy: "check that nothing else writes to it")
        }
    }

    /// The bytes from `offset` on; fewer than `count` if the file ends earlier.
    package func bytes(at offset: Int, count: Int) throws(FileError) -> [UInt8] {
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                let target = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count])
                initialized = try transfer(into: target, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// The whole file.
    ///
    /// It is read to its end, which may be past ``byteCount``: a file can grow, and those under
    /// `/proc` have the size 0.
    ///
    /// - Parameter maximumBytes: A larger file is refused.
    package func contents(maximumBytes: Int = .max) throws(FileError) -> [UInt8] {
        guard byteCount <= maximumBytes else { throw tooLarge(byteCount, maximumBytes) }
        var contents = try bytes(at: 0, count: byteCount)
        while true {
            let more = try bytes(at: contents.count, count: 4096)
            if more.isEmpty { return contents }
            contents += more
            guard contents.count <= maximumBytes else {
                throw tooLarge(contents.count, maximumBytes)
            }
        }
    }
}

extension RegularFile {
    /// Reads until the buffer is full or the file ends; returns the number of bytes read.
    private func transfer(
        into bytes: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileError) -> Int {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let count = pread(
                descriptor, rest.baseAddress, min(rest.count, Self.largestTransfer), offset + done)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(path, errno) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    private static func state(
        of descriptor: Int32, _ path: FilePath
    ) throws(FileError) -> (byteCount: Int, changed: timespec) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return (Int(status.st_size), status.st_mtim)
        case S_IFDIR:
            throw FileError(
                path: path.string, operation: "read", reason: "it is a directory",
                remedy: "name a file")
        default:
            throw FileError(
                path: path.string, operation: "read", reason: "it is not a regular file",
                remedy: "copy it to a file first")
        }
    }

    /// Opens each folder of a path in the one before it: nobody can put a link in its place
    /// between a check and the opening. Returns -1 with `errno` set if that fails.
    private static func open(_ name: String, beneath folder: FilePath) -> Int32 {
        let folderFlags = O_RDONLY | O_CLOEXEC | O_DIRECTORY
        var parts = name.pathParts
        let file = parts.removeLast()
        let start: FilePath = folder.isEmpty ? "." : folder
        var current = start.withPlatformString { Glibc.open($0, folderFlags) }
        for part in parts where current >= 0 {
            current = open(part, in: current, folderFlags)
        }
        return current < 0 ? current : open(file, in: current, flags)
    }

    /// Opens what is in an open folder, and closes the folder. A link fails with `ELOOP`.
    private static func open(_ name: String, in folder: Int32, _ flags: Int32) -> Int32 {
        let opened = openat(folder, name, flags | O_NOFOLLOW)
        var number = errno
        var status = stat()
        if opened < 0, fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFLNK
        {
            number = ELOOP
        }
        close(folder)
        errno = number
        return opened
    }

    private static func failure(_ path: FilePath, _ number: Int32) -> FileError {
        guard number == ELOOP else {
            return FileError(path: path.string, operation: "read", number: number)
        }
        return FileError(
            path: path.string, operation: "read", reason: "it is a symbolic link",
            remedy: "replace it by the file it leads to", errorNumber: number)
    }

    private func tooLarge(_ size: Int, _ limit: Int) -> FileError {
        FileError(
            path: path.string, operation: "read",
            reason: "it has \(size) bytes; the limit is \(limit)",
            remedy: "name a smaller file")
    }
}

extension [UInt8] {
    /// The bytes of a text without the mark that editors on Windows put in front of UTF-8.
    package var withoutByteOrderMark: ArraySlice<UInt8> {
        starts(with: [0xef, 0xbb, 0xbf]) ? dropFirst(3) : self[...]
    }
}

/// Reads a whole file of text, without a byte order mark. What is not UTF-8 is refused: a path in
/// it would become another one.
///
/// - Parameter maximumBytes: A larger file is refused before it is read.
/// - Throws: ``FileError`` as ``readFile(_:maximumBytes:)``, and with the first line that is not
///   UTF-8.
package func readText(
    _ path: some PathConvertible, maximumBytes: Int
) throws(FileError) -> String {
    let bytes = try readFile(path, maximumBytes: maximumBytes).withoutByteOrderMark
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
    throw FileError(
        path: path.filePath.string, operation: "read", reason: "line \(line + 1) is not UTF-8",
        remedy: "save the file as UTF-8")
}

/// Reads a whole regular file.
///
/// - Parameter maximumBytes: A larger file is refused before it is read.
/// - Throws: ``FileError`` if it cannot be read, is not a regular file or is too large.
package func readFile(
    _ path: some PathConvertible, maximumBytes: Int = .max
) throws(FileError) -> [UInt8] {
    try RegularFile(path).contents(maximumBytes: maximumBytes)
}
