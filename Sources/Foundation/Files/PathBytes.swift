import Glibc
import SystemPackage

/// To the system, a path is bytes, and only zero bytes and slashes have a meaning. To a `String` of
/// Swift, names are equal if Unicode calls them equivalent, a slash is part of the character that
/// a combining mark after it makes, and bytes that are not UTF-8 become U+FFFD.
extension String {
    /// The names between the slashes of a path, empty ones included.
    package var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// Whether a path starts at the root.
    package var isAbsolutePath: Bool { utf8.first == UInt8(ascii: "/") }

    /// The rest of a path below a folder that it begins with.
    package func path(below folder: String) -> String {
        let isComplete = folder.utf8.last == UInt8(ascii: "/")
        return String(Substring(utf8.dropFirst(folder.utf8.count + (isComplete ? 0 : 1))))
    }

    /// The order of paths in lists: that of their bytes, which no two share.
    package static func precedesAsPath(_ one: String, _ other: String) -> Bool {
        one.utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension FilePath {
    /// The path as text; nil if it is not UTF-8.
    package var text: String? { String(validating: self) }

    /// The path as text in which a byte that is not UTF-8 is `\xE9`.
    package var visible: String {
        if let text = String(validating: self) { return text }
        let bytes = withPlatformString {
            Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))
        }
        var (text, rest) = ("", bytes[...])
        while let first = rest.first {
            let scalar = (1...4).lazy.compactMap {
                String(validating: rest.prefix($0), as: UTF8.self)
            }
            .first
            text += scalar ?? "\\x" + String(first, radix: 16, uppercase: true)
            rest = rest.dropFirst(scalar?.utf8.count ?? 1)
        }
        return text
    }
}

/// Refuses a path that no `String` can hold: as one, it would be that of another file.
///
/// - Parameter operation: as for ``FileError``.
package func requireUTF8(
    _ path: FilePath, for operation: String, remedy: String
) throws(FileError) {
    guard String(validating: path) == nil else { return }
    throw FileError(
        path: path.visible, operation: operation, reason: "its name is not UTF-8", remedy: remedy)
}

/// A path without symbolic links; nil for one that does not exist, or that is too long.
func realPath(_ path: FilePath) -> FilePath? {
    guard let real = path.withPlatformString({ realpath($0, nil) }) else { return nil }
    defer { free(real) }
    return FilePath(platformString: real)
}

/// The current folder of the process; nil if it was removed.
package func currentFolder() -> FilePath? {
    guard let current = getcwd(nil, 0) else { return nil }
    defer { free(current) }
    return FilePath(platformString: current)
}
