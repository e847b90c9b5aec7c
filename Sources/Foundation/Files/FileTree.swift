import Glibc
import SystemPackage

/// The kind of entry at a path.
package enum FileKind {
    case nothing, file, directory, other
    /// A symbolic link that was not followed.
    case link

    /// Examines the entry itself or, with `followingLinks`, the target of a symbolic link.
    ///
    /// - Parameter operation: What the caller is about to do, for the error.
    /// - Throws: ``FileError`` if the path cannot be examined.
    public init(
        at path: some PathConvertible, followingLinks: Bool = true, for operation: String = "read"
    ) throws(FileError) {
        let path = path.filePath
        var status = stat()
        let result = path.withPlatformString {
            followingLinks ? stat($0, &status) : lstat($0, &status)
        }
        guard result == 0 else {
            guard [ENOENT, ENOTDIR].contains(errno) else {
                throw FileError(path: path.string, operation: operation)
            }
            self = .nothing
            return
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .link
        default: self = .other
        }
    }
}

/// Creates a folder unless it exists.
///
/// - Parameter withParents: Whether missing folders above it are created too.
/// - Throws: ``FileError`` if one cannot be created.
package func createFolder(
    _ path: some PathConvertible, withParents: Bool = true
) throws(FileError) {
    let path = path.filePath
    let parent = path.removingLastComponent()
    if withParents, !parent.isEmpty, try FileKind(at: parent, for: "create") == .nothing {
        try createFolder(parent)
    }
    guard path.withPlatformString({ mkdir($0, 0o777) }) != 0 else { return }
    let error = FileError(path: path.string, operation: "create")
    guard error.errorNumber == EEXIST, try isDirectory(path) else { throw error }
}

/// Removes a file, or a folder with everything in it; symbolic links are removed, not followed.
///
/// - Returns: Whether nothing is left.
@discardableResult
package func removeTree(_ path: some PathConvertible) -> Bool {
    let path = path.filePath
    if path.withPlatformString({ unlink($0) }) == 0 { return true }
    for name in components(of: path) ?? [] { removeTree(path.appending(name)) }
    return path.withPlatformString { rmdir($0) } == 0
}

/// The bytes of a file, or of all files in a folder. `path` itself may be a symbolic link; those in
/// the folder are not followed.
///
/// - Throws: ``FileError`` if a file or folder cannot be examined.
package func totalBytes(of path: some PathConvertible) throws(FileError) -> Int {
    let path = path.filePath
    return try bytes(below: isDirectory(path) ? path.appending(".") : path)
}

private func bytes(below path: FilePath) throws(FileError) -> Int {
    var status = stat()
    guard path.withPlatformString({ lstat($0, &status) }) == 0 else {
        throw FileError(path: path.string, operation: "read")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { return Int(status.st_size) }
    guard let names = components(of: path) else {
        throw FileError(path: path.string, operation: "read")
    }
    var total = 0
    for name in names { total += try bytes(below: path.appending(name)) }
    return total
}

/// Runs `body` with the path of a new, empty folder that only this user may enter, and removes the
/// folder and all that it contains afterwards.
///
/// - Throws: ``FileError`` if the folder cannot be created; the errors of `body`.
package func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    return try body(folder)
}

/// The same for a function that waits for something.
package func withTemporaryFolder<Result>(
    _ body: (String) async throws -> Result
) async throws -> Result {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    return try await body(folder)
}

private func makeTemporaryFolder() throws(FileError) -> String {
    let named = getenv("TMPDIR").map { FilePath(platformString: $0) } ?? ""
    let parent: FilePath = named.isEmpty ? "/tmp" : named
    try requireUTF8(parent, for: "write", remedy: "set TMPDIR to another directory")
    var template = Array(parent.appending("retint-XXXXXX").string.utf8CString)
    guard mkdtemp(&template) != nil else {
        throw FileError(path: parent.string, operation: "write")
    }
    return FilePath(platformString: template).string
}

/// Waits until a file, or a folder with everything in it, is on disk.
///
/// - Parameter target: The path that an error names.
func syncTree(_ path: FilePath, for target: FilePath) throws(FileError) {
    for name in components(of: path) ?? [] { try syncTree(path.appending(name), for: target) }
    let number = sync(path)
    guard number == 0 else {
        throw FileError(path: target.string, operation: "write", number: number)
    }
}

/// Waits until one file or folder is on disk. Returns an error number, 0 on success.
func sync(_ path: FilePath) -> Int32 {
    let descriptor = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    // A symbolic link is part of its folder.
    guard descriptor >= 0 else { return errno == ELOOP ? 0 : errno }
    defer { close(descriptor) }
    // Some file systems cannot sync a folder and fail with EINVAL.
    return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
}

/// The names in a folder, hidden ones included; nil if it cannot be read or `path` is not a
/// folder but, for instance, a symbolic link to one.
package func entries(of path: some PathConvertible) -> [String]? {
    components(of: path)?.map(\.string)
}

/// As ``entries(of:)``, but with the bytes of names that are not UTF-8, by which alone they can be
/// opened or removed.
func components(of path: some PathConvertible) -> [FilePath.Component]? {
    let path: FilePath = path.filePath.isEmpty ? "." : path.filePath
    let flags = O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW
    let descriptor = path.withPlatformString { open($0, flags) }
    guard descriptor >= 0 else { return nil }
    guard let directory = fdopendir(descriptor) else {
        close(descriptor)
        return nil
    }
    defer { closedir(directory) }
    var names: [FilePath.Component] = []
    while let entry = readdir(directory) {
        guard let name = name(of: UnsafePointer(entry)), name.kind == .regular else { continue }
        names.append(name)
    }
    return names
}

/// Swift imports the name as a tuple of 256 characters, but the entry may be shorter than that.
private func name(of entry: UnsafePointer<dirent>) -> FilePath.Component? {
    let start = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
    return FilePath.Component(platformString: start.assumingMemoryBound(to: CChar.self))
}

/// Identifies a file or folder however its path is spelled.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Nil if nothing is at the path.
    public init?(of path: some PathConvertible) {
        var status = stat()
        guard path.filePath.withPlatformString({ stat($0, &status) }) == 0 else { return nil }
        self.init(status)
    }

    /// Nil if the descriptor is not open.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}

/// All folders that contain a file or folder, the nearest first. Nothing needs to exist at
/// the path itself.
package func foldersAbove(_ path: some PathConvertible) -> [FileIdentity] {
    let parent = path.filePath.removingLastComponent()
    guard var folder = realPath(parent.isEmpty ? "." : parent) else { return [] }
    var folders: [FileIdentity] = []
    while let identity = FileIdentity(of: folder) {
        folders.append(identity)
        guard folder.removeLastComponent() else { break }
    }
    return folders
}
