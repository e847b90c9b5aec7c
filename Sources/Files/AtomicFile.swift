import CFiles
import Glibc

/// Writes files and directories so that whoever looks finds the old one or the new one, whole.
///
/// The new one is built under a temporary name in the same directory, synced, and renamed. If
/// anything fails, the temporary is removed and the old one stays as it was.
package enum AtomicFile {
    /// Writes a file, in place of one that may be there; a link is followed, not replaced.
    package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
        let target = try resolve(path)
        guard try FileKind(at: target) != .directory else { throw isDirectory(path) }
        let temporary = temporaryPath(beside: target)
        do {
            try create(temporary, bytes, mode: mode(of: target), for: path)
            try move(temporary, to: target, for: path)
        } catch {
            unlink(temporary)
            throw error
        }
        try syncParent(of: target, for: path)
    }

    /// Has `build` make a file or a directory at the path it is given, and puts that at `path`.
    ///
    /// - Parameter marker: A directory at `path` is replaced only if it is empty or holds an
    ///   entry of this name: a mistyped path must not cost a home directory.
    /// - Throws: What `build` throws, or a `FileError`.
    package static func replace<Result>(
        _ path: String, marker: String? = nil, build: (_ temporaryPath: String) throws -> Result
    ) throws -> Result {
        let target = try resolve(path)
        let temporary = temporaryPath(beside: target)
        do {
            let result = try build(temporary)
            try install(temporary, at: target, marker: marker, for: path)
            return result
        } catch {
            removeTree(temporary)
            throw error
        }
    }

    static func install(
        _ temporary: String, at target: String, marker: String?, for path: String
    ) throws(FileError) {
        let old = try FileKind(at: target)
        switch (try FileKind(at: temporary), old) {
        case (.directory, .nothing), (.file, .nothing), (.file, .file):
            try syncTree(temporary, for: path)
            try move(temporary, to: target, for: path)
        case (.directory, .directory):
            try syncTree(temporary, for: path)
            try exchange(temporary, target, marker: marker, for: path)
        case (.file, .directory): throw isDirectory(path)
        case (.directory, _): throw isNoDirectory(path)
        default: throw nothingBuilt(path)
        }
        try syncParent(of: target, for: path)
    }
}

// MARK: Files

extension AtomicFile {
    private static func create(
        _ temporary: String, _ bytes: [UInt8], mode: mode_t?, for path: String
    ) throws(FileError) {
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileError(path: path, operation: "write") }
        var isOpen = true
        defer { if isOpen { close(descriptor) } }
        if let mode { fchmod(descriptor, mode) }
        try writeAll(bytes, to: descriptor, for: path)
        guard fsync(descriptor) == 0 else { throw FileError(path: path, operation: "write") }
        // Network file systems may report a full disk only now.
        isOpen = false
        guard close(descriptor) == 0 else { throw FileError(path: path, operation: "write") }
    }

    private static func writeAll(
        _ bytes: [UInt8], to descriptor: Int32, for path: String
    ) throws(FileError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw FileError(path: path, operation: "write") }
            if count == rest.count { return }
            rest.removeFirst(count)
        }
    }

    /// The permissions of the file that is replaced: the new one keeps them.
    static func mode(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }
}

// MARK: Directories

extension AtomicFile {
    /// Puts the directory `temporary` in the place of the directory `target`.
    private static func exchange(
        _ temporary: String, _ target: String, marker: String?, for path: String
    ) throws(FileError) {
        // An empty directory gives way to a plain rename.
        if rename(temporary, target) == 0 { return }
        guard errno == ENOTEMPTY || errno == EEXIST else {
            throw FileError(path: path, operation: "write")
        }
        guard let marker, access("\(target)/\(marker)", F_OK) == 0 else {
            throw isForeign(path, marker: marker)
        }
        if files_exchange(temporary, target) != 0 {
            try moveAside(temporary, target, for: path)
        }
        removeTree(temporary)
    }

    /// For file systems that cannot exchange two names: for an instant, nothing is at `target`.
    private static func moveAside(
        _ temporary: String, _ target: String, for path: String
    ) throws(FileError) {
        let aside = temporaryPath(beside: target)
        try move(target, to: aside, for: path)
        guard rename(temporary, target) == 0 else {
            let error = FileError(path: path, operation: "write")
            rename(aside, target)
            throw error
        }
        rename(aside, temporary)
    }
}

// MARK: Paths

extension AtomicFile {
    /// Where the file really is. What is neither a file nor a directory is refused: renaming onto
    /// a device would destroy the device.
    static func resolve(_ path: String) throws(FileError) -> String {
        guard !path.isEmpty else {
            throw FileError(
                path: "(empty path)", operation: "write", reason: "the path is empty",
                remedy: "name a file")
        }
        guard try FileKind(at: path) != .other else {
            throw FileError(
                path: path, operation: "write", reason: "it is not a regular file",
                remedy: "choose another name")
        }
        guard let real = realpath(path, nil) else { return withoutTrailingSlashes(path) }
        defer { free(real) }
        return String(cString: real)
    }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var path = path[...]
        while path.count > 1 && path.last == "/" { path.removeLast() }
        return String(path)
    }

    /// Splits a path into its directory, with the slash, and its name.
    private static func split(_ path: String) -> (directory: Substring, name: Substring) {
        let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return (path[..<end], path[end...])
    }

    /// A hidden name of at most 255 bytes that no one else uses, in the directory of `path`.
    static func temporaryPath(beside path: String) -> String {
        let (directory, name) = split(path)
        let mark = String(UInt64.random(in: 0 ... .max), radix: 36)
        return "\(directory).\(name.prefix(40)).\(mark).partial"
    }

    private static func move(
        _ source: String, to target: String, for path: String
    ) throws(FileError) {
        guard rename(source, target) == 0 else { throw FileError(path: path, operation: "write") }
    }

    private static func syncParent(of target: String, for path: String) throws(FileError) {
        let directory = split(target).directory
        let number = sync(directory.isEmpty ? "." : String(directory))
        guard number == 0 else { throw FileError(path: path, operation: "write", number: number) }
    }
}

// MARK: Refusals

extension AtomicFile {
    static func isDirectory(_ path: String) -> FileError {
        FileError(
            path: path, operation: "write", reason: "it is a directory",
            remedy: "name a file in it")
    }

    private static func isNoDirectory(_ path: String) -> FileError {
        FileError(
            path: path, operation: "write", reason: "a file is where a directory should be",
            remedy: "remove it or choose another name")
    }

    private static func isForeign(_ path: String, marker: String?) -> FileError {
        let content = marker.map { ", and has no \($0)" } ?? ""
        return FileError(
            path: path, operation: "replace", reason: "the directory is not empty\(content)",
            remedy: "remove it or choose another name")
    }

    private static func nothingBuilt(_ path: String) -> FileError {
        FileError(path: path, operation: "write", reason: "nothing was written")
    }
}
