public import Foundation
public import SystemPackage

/// A value that names a file or a folder: a `String`, a `FilePath` or a file `URL`.
///
/// Functions that read or write files take `some PathConvertible`, so that callers can pass any
/// of the three.
public protocol PathConvertible {
    /// The path, absolute or relative to the current folder of the process.
    var filePath: FilePath { get }
}

extension FilePath: PathConvertible {
    /// The path itself.
    public var filePath: FilePath { self }
}

extension String: PathConvertible {
    /// The string read as a path, without tilde or variable expansion. A NUL character, which no
    /// path can contain, becomes U+FFFD rather than end the path.
    public var filePath: FilePath {
        let isPlain = !utf8.contains(0)
        return FilePath(isPlain ? self : String(map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}

extension URL: PathConvertible {
    /// The path of a file URL. Any other URL gives its whole text, which opening a file then
    /// reports as missing.
    public var filePath: FilePath { FilePath(isFileURL ? path : absoluteString) }
}
