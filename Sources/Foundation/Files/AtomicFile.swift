import CRetintSystem
import Glibc
import SystemPackage

/// Writes files and folders so that a reader finds either the complete old one or the complete new
/// one.
///
/// The new one is built under a temporary name in the same folder, written to disk and renamed. If
/// anything fails, the temporary is removed and the old one stays as it was.
package enum AtomicFile {
    /// Writes a file, replacing an existing one; a symbolic link is followed, not replaced.
    ///
    /// - Throws: ``FileError`` if something other than a regular file is at `path` or it cannot be
    ///   written.
    package static func write(_ bytes: [UInt8], to path: some PathConvertible) throws(FileError) {
        let file = try PendingFile(for: path)
        try file.write(bytes)
        try file.publish()
    }

    /// Has `build` create a file or a folder at the path it is given, then moves that to `path`.
    ///
    /// A folder replaces a folder in one step, by exchanging the two names. If the file
    /// system cannot do that, there are two renames, between which nothing is at `path`; a crash
    /// between them is repaired by the next call for the same path.
    ///
    /// - Parameter content: The only contents of a folder at `path` that may be replaced; nil for
    ///   none.
    /// - Throws: The errors of `build`, or a ``FileError``.
    package static func replace<Result>(
        _ path: some PathConvertible, content: FolderContent? = nil,
        build: (_ temporaryPath: String) throws -> Result
    ) throws -> Result {
        let path = path.filePath
        let target = try resolve(path)
        sweepLeftovers(in: target.removingLastComponent())
        let lock = try OutputLock(target, for: path)
        defer { withExtendedLifetime(lock) {} }
        try restoreDisplaced(target, content, for: path)
        try checkReplaceable(target, content, for: path)
        let temporary = temporaryPath(beside: target)
        do {
            let result = try build(temporary.string)
            try install(temporary, at: target, content, for: path)
            return result
        } catch {
            removeTree(temporary)
            throw error
        }
    }

    private static func install(
        _ temporary: FilePath, at target: FilePath, _ content: FolderContent?, for path: FilePath
    ) throws(FileError) {
        let old = try FileKind(at: target, for: "write")
        switch (try FileKind(at: temporary, for: "write"), old) {
        case (.directory, .nothing), (.file, .nothing), (.file, .file):
            try syncTree(temporary, for: path)
            try move(temporary, to: target, for: path)
        case (.directory, .directory):
            try checkReplaceable(target, content, for: path)
            try syncTree(temporary, for: path)
            try exchange(temporary, target, content, for: path)
        case (.file, .directory): throw isDirectory(path)
        case (.directory, _): throw isNotDirectory(path)
        default: throw nothingBuilt(path)
        }
        try syncParent(of: target, for: path)
    }

    /// The permissions of the file that is replaced; the new one gets them.
    static func mode(of path: FilePath) -> mode_t? {
        var status = stat()
        return path.withPlatformString({ stat($0, &status) }) == 0 ? status.st_mode & 0o7777 : nil
    }
}

// MARK: Folders

extension AtomicFile {
    /// Refuses a folder at `path` that ``replace(_:content:build:)`` would not replace.
    package static func checkReplaceable(
        _ path: some PathConvertible, _ content: FolderContent?
    ) throws(FileError) {
        try checkReplaceable(resolve(path.filePath), content, for: path.filePath)
    }

    private static func checkReplaceable(
        _ target: FilePath, _ content: FolderContent?, for path: FilePath
    ) throws(FileError) {
        if let difference = foreignness(of: target, content) {
            throw isForeign(path, difference)
        }
    }

    /// Why the folder at a path has what is not of `content`; nil if it has nothing else.
    private static func foreignness(of folder: FilePath, _ content: FolderContent?) -> String? {
        guard let names = entries(of: folder), !names.isEmpty else { return nil }
        guard let content else { return "" }
        return content.difference(of: folder, names)
    }

    /// Puts the folder `temporary` in place of the folder `target` and removes the latter, unless
    /// somebody has added files to it meanwhile.
    private static func exchange(
        _ temporary: FilePath, _ target: FilePath, _ content: FolderContent?, for path: FilePath
    ) throws(FileError) {
        guard files_exchange(temporary.string, target.string) == 0 else {
            return try displace(target, by: temporary, for: path)
        }
        if let difference = foreignness(of: temporary, content),
            files_exchange(temporary.string, target.string) == 0
        {
            throw isForeign(path, difference)
        }
        removeTree(temporary)
    }

    /// Replaces a folder with two renames, for file systems that cannot exchange two names.
    static func displace(
        _ target: FilePath, by temporary: FilePath, for path: FilePath
    ) throws(FileError) {
        let old = displacedPath(of: target)
        try move(target, to: old, for: path)
        guard rename(temporary.string, target.string) == 0 else {
            let error = FileError(path: path.string, operation: "write")
            rename(old.string, target.string)
            throw error
        }
        removeTree(old)
    }

    /// Completes a replacement that a crash interrupted: moves the old folder back if nothing took
    /// its place, and removes it otherwise. A folder with other content was not displaced by us.
    private static func restoreDisplaced(
        _ target: FilePath, _ content: FolderContent?, for path: FilePath
    ) throws(FileError) {
        let old = displacedPath(of: target)
        guard try FileKind(at: old, followingLinks: false, for: "write") == .directory,
            foreignness(of: old, content) == nil
        else { return }
        if try FileKind(at: target, for: "write") == .nothing {
            try move(old, to: target, for: path)
        } else {
            removeTree(old)
        }
    }
}

// MARK: Paths

extension AtomicFile {
    /// The path without symbolic links and trailing slashes, the same before and after the file
    /// exists. Anything other than a file or folder is refused: renaming onto a device would
    /// destroy the device.
    static func resolve(_ path: FilePath) throws(FileError) -> FilePath {
        guard !path.isEmpty else {
            throw FileError(
                path: "(empty path)", operation: "write", reason: "the path is empty",
                remedy: "name a file")
        }
        guard try FileKind(at: path, for: "write") != .other else {
            throw FileError(
                path: path.string, operation: "write", reason: "it is not a regular file",
                remedy: "choose another name")
        }
        let target = try realTarget(path)
        // Temporary files are named beside it, by text.
        try requireUTF8(target, for: "write", remedy: "rename it or choose another place")
        return target
    }

    private static func realTarget(_ path: FilePath) throws(FileError) -> FilePath {
        if let real = realPath(path) { return real }
        guard try FileKind(at: path, followingLinks: false) != .link else {
            throw leadsNowhere(path)
        }
        let folder = path.removingLastComponent()
        guard let name = path.lastComponent, let real = realPath(folder.isEmpty ? "." : folder)
        else { return path }
        return real.appending(name)
    }

    static func move(
        _ source: FilePath, to target: FilePath, for path: FilePath
    ) throws(FileError) {
        guard rename(source.string, target.string) == 0 else {
            throw FileError(path: path.string, operation: "write")
        }
    }

    static func syncParent(of target: FilePath, for path: FilePath) throws(FileError) {
        let folder = target.removingLastComponent()
        let number = sync(folder.isEmpty ? "." : folder)
        guard number == 0 else {
            throw FileError(path: path.string, operation: "write", number: number)
        }
    }
}

// MARK: Refusals

extension AtomicFile {
    static func isDirectory(_ path: FilePath) -> FileError {
        FileError(
            path: path.string, operation: "write", reason: "it is a directory",
            remedy: "name a file in it")
    }

    private static func isNotDirectory(_ path: FilePath) -> FileError {
        FileError(
            path: path.string, operation: "write",
            reason: "a file is where a directory should be",
            remedy: "remove it or choose another name")
    }

    private static func isForeign(_ path: FilePath, _ what: String) -> FileError {
        FileError(
            path: path.string, operation: "replace",
            reason: "the directory is not empty\(what)",
            remedy: "remove it or choose another name")
    }

    private static func leadsNowhere(_ path: FilePath) -> FileError {
        FileError(
            path: path.string, operation: "write",
            reason: "it is a broken symbolic link",
            remedy: "remove it or choose another name")
    }

    private static func nothingBuilt(_ path: FilePath) -> FileError {
        FileError(path: path.string, operation: "write", reason: "nothing was written")
    }
}
