import Glibc

/// Whether a directory is at `path`.
///
/// - Throws: `FileError` if nothing is there or it cannot be looked at.
package func isDirectory(_ path: String) throws(FileError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { throw FileError(path: path, operation: "read") }
    return status.st_mode & S_IFMT == S_IFDIR
}

/// The files below a directory and its subdirectories, sorted by path. Hidden ones are left out,
/// and links to directories are not followed.
///
/// - Parameter extensions: the extensions to list, in lower case and without the dot.
/// - Throws: `FileError` if a directory cannot be read.
package func listFiles(
    below directory: String, extensions: Set<String>
) throws(FileError) -> [String] {
    guard try isDirectory(directory) else {
        throw FileError(
            path: directory, operation: "read", reason: "it is not a directory",
            remedy: "name a directory")
    }
    var found: [String] = []
    try list(directory, extensions, into: &found)
    return found.sorted()
}

private func list(
    _ directory: String, _ extensions: Set<String>, into found: inout [String]
) throws(FileError) {
    guard let names = entries(of: directory) else {
        throw FileError(path: directory, operation: "read")
    }
    for name in names where !name.hasPrefix(".") {
        let path = directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
        switch kind(of: path) {
        case S_IFDIR: try list(path, extensions, into: &found)
        case S_IFREG where extensions.contains(fileExtension(of: name)): found.append(path)
        default: break
        }
    }
}

/// A link to a file counts as a file; a link to a directory, which could lead in a circle, as a
/// link.
private func kind(of path: String) -> mode_t {
    var status = stat()
    guard lstat(path, &status) == 0 else { return 0 }
    guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_mode & S_IFMT }
    guard stat(path, &status) == 0 else { return 0 }
    return status.st_mode & S_IFMT == S_IFREG ? S_IFREG : S_IFLNK
}

private func fileExtension(of name: String) -> String {
    guard let dot = name.lastIndex(of: ".") else { return "" }
    return name[name.index(after: dot)...].lowercased()
}
