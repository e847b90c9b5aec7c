/// A path in a file that names another file next to it, and must not lead elsewhere.
package enum RelativePath {
    /// Why a path may lead out of the folder that it is relative to; nil for a plain one.
    package static func flaw(in path: String) -> String? {
        if path.isEmpty { return "it must not be empty" }
        if path.hasPrefix("/") { return "it must not be absolute" }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { !["", ".", ".."].contains($0) && !$0.contains("\0") }
        return isPlain ? nil : "it must not have empty parts, \".\" or \"..\""
    }

    /// The first part of a path below `root` that is a symbolic link or does not exist; nil if all
    /// parts are plain files and folders.
    package static func obstacle(
        in path: String, below root: String
    ) throws(FileError) -> (place: String, kind: FileKind)? {
        var current = root
        for part in path.split(separator: "/") {
            current += "/" + part
            let kind = try FileKind(at: current, followingLinks: false)
            if kind == .nothing || kind == .link { return (current, kind) }
        }
        return nil
    }
}
