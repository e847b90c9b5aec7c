public import Foundation
public import SystemPackage

/// A value that names a file or a folder: a `String`, a `FilePath` or a file `URL`.
///
/// Functions that read or write files take `some PathConvertible`, so that callers pass whichever
/// of the three they have.
public protocol PathConvertible {
    /// The path, absolute or relative to the current folder of the process.
    var filePath: FilePath { get }
}

extension FilePath: PathConvertible {
    /// The path itself.
    public var filePath: FilePath { self }
}

extension String: PathConvertible {
    /// The string read as a path, without tilde or variable expansion. The path ends before the
    /// first NUL character, if there is one.
    public var filePath: FilePath { FilePath(self) }
}

extension URL: PathConvertible {
    /// The path of a file URL. Any other URL gives its whole text, which opening a file then
    /// reports as missing.
    public var filePath: FilePath { FilePath(isFileURL ? path : absoluteString) }
}
