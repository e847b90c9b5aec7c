import Glibc
import SystemPackage

/// Whether `path` is a folder.
///
/// - Throws: ``FileError`` if nothing is there or it cannot be examined.
package func isDirectory(_ path: some PathConvertible) throws(FileError) -> Bool {
    let path = path.filePath
    var status = stat()
    guard path.withPlatformString({ stat($0, &status) }) == 0 else {
        throw FileError(path: path.visible, operation: "read")
    }
    return status.st_mode & S_IFMT == S_IFDIR
}

/// The files below a folder and its subfolders, sorted by the bytes of their paths. Hidden ones are
/// skipped, and symbolic links to folders are not followed.
///
/// - Parameters:
///   - extensions: The extensions to list, in lower case and without the dot.
///   - recursive: Whether files in subfolders are listed too.
///   - leaveOut: Is told of each file whose path is not UTF-8, in the order of their paths; the
///     others are listed. If nil, the first one is an error.
/// - Throws: ``FileError`` if a folder cannot be read, or if the path of one of the files is not
///   UTF-8 and `leaveOut` is nil.
package func listFiles(
    below folder: String, extensions: Set<String>, recursive: Bool = true,
    leavingOut leaveOut: ((FileError) -> Void)? = nil
) throws(FileError) -> [String] {
    guard try isDirectory(folder) else {
        throw FileError(
            path: folder, operation: "read", reason: "it is not a directory",
            remedy: "name a directory")
    }
    var found: [FilePath] = []
    try list("", of: FilePath(folder), extensions, recursive, into: &found)
    // The caller's spelling of the folder is kept: names relative to it follow from the paths.
    let prefix = folder.utf8.last == UInt8(ascii: "/") ? folder : folder + "/"
    var (paths, refused) = ([String](), [FileError]())
    for path in found {
        do throws(FileError) {
            try requireUTF8(
                FilePath(folder).pushing(path), for: "read",
                remedy: "rename it: convmv does so for whole folders")
            paths.append(prefix + path.string)
        } catch {
            refused.append(error)
        }
    }
    refused.sort { String.precedesAsPath($0.file, $1.file) }
    if leaveOut == nil, let first = refused.first { throw first }
    for error in refused { leaveOut?(error) }
    return paths.sorted(by: String.precedesAsPath)
}

/// Collects the files below a subfolder, as paths relative to `root`.
private func list(
    _ subfolder: FilePath, of root: FilePath, _ extensions: Set<String>,
    _ recursive: Bool, into found: inout [FilePath]
) throws(FileError) {
    let folder = root.pushing(subfolder)
    // The folder that the caller named may be a symbolic link.
    guard let names = components(of: subfolder.isEmpty ? folder.appending(".") : folder) else {
        throw FileError(path: folder.visible, operation: "read")
    }
    for name in names where !name.string.utf8.starts(with: ".".utf8) {
        let path = subfolder.appending(name)
        switch kind(of: root.pushing(path)) {
        case S_IFDIR where recursive: try list(path, of: root, extensions, true, into: &found)
        case S_IFREG where extensions.contains(path.extension?.lowercased() ?? ""):
            found.append(path)
        default: break
        }
    }
}

/// A symbolic link counts as the file it leads to; one to a folder, which could form a cycle,
/// stays a link.
private func kind(of path: FilePath) -> mode_t {
    path.withPlatformString { path in
        var status = stat()
        guard lstat(path, &status) == 0 else { return 0 }
        guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_mode & S_IFMT }
        guard stat(path, &status) == 0 else { return 0 }
        return status.st_mode & S_IFMT == S_IFREG ? S_IFREG : S_IFLNK
    }
}
