import Glibc

/// What stands at a path.
enum FileKind {
    case nothing, file, directory, other

    /// Follows symbolic links.
    init(at path: String) throws(FileError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw FileError(path: path, operation: "write") }
            self = .nothing
            return
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .directory
        default: self = .other
        }
    }
}

/// Removes a file, or a directory with all that is in it; links are removed, not followed.
@discardableResult
func removeTree(_ path: String) -> Bool {
    if unlink(path) == 0 { return true }
    for name in entries(of: path) ?? [] { removeTree("\(path)/\(name)") }
    return rmdir(path) == 0
}

/// Has a file, or a directory with all that is in it, reach the disk.
///
/// - Parameter target: The path that an error names.
func syncTree(_ path: String, for target: String) throws(FileError) {
    for name in entries(of: path) ?? [] { try syncTree("\(path)/\(name)", for: target) }
    let number = sync(path)
    guard number == 0 else { throw FileError(path: target, operation: "write", number: number) }
}

/// Has one file or directory reach the disk. Returns an error number, 0 if all went well.
func sync(_ path: String) -> Int32 {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    // The link itself is part of its directory.
    guard descriptor >= 0 else { return errno == ELOOP ? 0 : errno }
    defer { close(descriptor) }
    // Some file systems cannot sync a directory, and say so with EINVAL.
    return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
}

/// The names in a directory, without "." and ".."; nil for what is not one, such as a link, or
/// cannot be read.
func entries(of path: String) -> [String]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    guard let directory = fdopendir(descriptor) else {
        close(descriptor)
        return nil
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) { names.append(name(of: UnsafePointer(entry))) }
    return names.filter { $0 != "." && $0 != ".." }
}

/// Swift sees the name as a tuple of 256 characters, but the entry may be shorter than that.
private func name(of entry: UnsafePointer<dirent>) -> String {
    let start = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
    return String(cString: start.assumingMemoryBound(to: CChar.self))
}

/// Which file or directory a path leads to, however it is spelled.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Nil where the path leads nowhere.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
