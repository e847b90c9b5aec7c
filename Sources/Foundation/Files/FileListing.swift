import Glibc
import SystemPackage

/// Whether `path` is a folder.
///
/// - Throws: ``FileError`` if nothing is there or it cannot be examined.
package func isDirectory(_ path: some PathConvertible) throws(FileError) -> Bool {
    let path = path.filePath.string
    var status = stat()
    guard stat(path, &status) == 0 else { throw FileError(path: path, operation: "read") }
    return status.st_mode & S_IFMT == S_IFDIR
}

/// The files below a folder and its subfolders, sorted by path. Hidden ones are skipped, and
/// symbolic links to folders are not followed.
///
/// - Parameters:
///   - extensions: The extensions to list, in lower case and without the dot.
///   - recursive: Whether files in subfolders are listed too.
/// - Throws: ``FileError`` if a folder cannot be read.
package func listFiles(
    below folder: String, extensions: Set<String>, recursive: Bool = true
) throws(FileError) -> [String] {
    guard try isDirectory(folder) else {
        throw FileError(
            path: folder, operation: "read", reason: "it is not a directory",
            remedy: "name a directory")
    }
    var found: [FilePath] = []
    try list("", of: FilePath(folder), extensions, recursive, into: &found)
    // The caller's spelling of the folder is kept: names relative to it follow from the paths.
    let prefix = folder.hasSuffix("/") ? folder : folder + "/"
    return found.map { prefix + $0.string }.sorted()
}

/// Collects the files below a subfolder, as paths relative to `root`.
private func list(
    _ subfolder: FilePath, of root: FilePath, _ extensions: Set<String>,
    _ recursive: Bool, into found: inout [FilePath]
) throws(FileError) {
    let folder = root.pushing(subfolder)
    // The folder that the caller named may be a symbolic link.
    guard let names = entries(of: subfolder.isEmpty ? folder.appending(".") : folder) else {
        throw FileError(path: folder.string, operation: "read")
    }
    for name in names where !name.hasPrefix(".") {
        let path = subfolder.appending(name)
        let type = path.extension?.lowercased()
        let isWanted = type.map(extensions.contains) ?? recursive
        // A name that is not UTF-8 has another character in place of what is not.
        guard !isWanted || !name.contains("\u{FFFD}") || isThere(root.pushing(path)) else {
            throw FileError(
                path: root.pushing(path).string, operation: "read",
                reason: "its name is not UTF-8",
                remedy: "rename it: convmv does so for whole folders")
        }
        switch kind(of: root.pushing(path)) {
        case S_IFDIR where recursive: try list(path, of: root, extensions, true, into: &found)
        case S_IFREG where extensions.contains(path.extension?.lowercased() ?? ""):
            found.append(path)
        default: break
        }
    }
}

private func isThere(_ path: FilePath) -> Bool {
    var status = stat()
    return lstat(path.string, &status) == 0
}

/// A symbolic link counts as the file it leads to; one to a folder, which could form a cycle,
/// stays a link.
private func kind(of path: FilePath) -> mode_t {
    var status = stat()
    guard lstat(path.string, &status) == 0 else { return 0 }
    guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_mode & S_IFMT }
    guard stat(path.string, &status) == 0 else { return 0 }
    return status.st_mode & S_IFMT == S_IFREG ? S_IFREG : S_IFLNK
}
