import RetintFiles
import SystemPackage

/// The path of a package and one of its functions: `colorizer.mlpackage#large`.
public struct FunctionPath {
    /// The package.
    public let package: FilePath
    /// The function; nil for the package's default.
    public let function: String?

    /// Splits a path at its last `#`, unless a file of the whole name exists.
    public init(_ path: some PathConvertible) {
        let path = path.filePath
        let text = path.string
        guard case .nothing? = try? FileKind(at: path), let mark = text.lastIndex(of: "#"),
            mark != text.startIndex
        else {
            (package, function) = (path, nil)
            return
        }
        package = FilePath(String(text[..<mark]))
        function = String(text[text.index(after: mark)...])
    }
}

extension MLPackage {
    /// Whether the path of a package or of a function leads to a folder.
    ///
    /// - Throws: `FileError` if nothing is there.
    package static func isPackage(_ path: some PathConvertible) throws(FileError) -> Bool {
        try isDirectory(FunctionPath(path).package)
    }
}
