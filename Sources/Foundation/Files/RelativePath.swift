import Glibc
import SystemPackage

/// A path in a file that names another file next to it, and must not lead elsewhere.
package enum RelativePath {
    /// The path that leads from a folder to a file, `../photos/a.png`; absolute if the two have
    /// nothing but the root in common. Symbolic links are not followed.
    package static func leading(
        from folder: some PathConvertible, to path: some PathConvertible
    ) -> String {
        let (start, end) = (absolute(folder.filePath), absolute(path.filePath))
        let (own, other) = (Array(start.components), Array(end.components))
        let common = zip(own, other).prefix { $0 == $1 }.count
        guard common > 0 || own.isEmpty else { return end.string }
        let parts =
            [String](repeating: "..", count: own.count - common)
            + other[common...].map(\.string)
        return parts.isEmpty ? "." : parts.joined(separator: "/")
    }

    /// The path from the root. Symbolic links are not followed.
    package static func absolute(_ path: FilePath) -> FilePath {
        guard !path.isAbsolute, let current = currentFolder() else {
            return path.lexicallyNormalized()
        }
        return current.pushing(path).lexicallyNormalized()
    }

    /// Why a path may lead out of the folder that it is relative to; nil for a plain one.
    package static func flaw(in path: String) -> String? {
        if path.isEmpty { return "it must not be empty" }
        if path.isAbsolutePath { return "it must not be absolute" }
        let isPlain = path.pathParts.allSatisfy {
            !["", ".", ".."].contains($0) && !$0.utf8.contains(0)
        }
        return isPlain ? nil : "it must not have empty parts, \".\" or \"..\""
    }

    /// The first part of a path below `root` that is a symbolic link or does not exist; nil if all
    /// parts are plain files and folders.
    package static func obstacle(
        in path: String, below root: String
    ) throws(FileError) -> (place: String, kind: FileKind)? {
        var current = root
        for part in path.pathParts where !part.isEmpty {
            current += "/" + part
            let kind = try FileKind(at: current, followingLinks: false)
            if kind == .nothing || kind == .link { return (current, kind) }
        }
        return nil
    }
}
