import RetintFiles
import RetintMLPackage

/// The bytes of a package's files: those at `path` if it was read from there as a whole.
func fileBytes(of package: MLPackage, at path: String) throws -> Int {
    let isWhole = FunctionPath(path).function == nil && (try? isDirectory(path)) == true
    return isWhole ? try totalBytes(of: path) : try package.writtenBytes()
}

extension MLPackage {
    /// The bytes of the package's files, which are written to a temporary folder to count them.
    func writtenBytes() throws -> Int {
        try withTemporaryFolder { folder in
            let path = "\(folder)/model.mlpackage"
            try write(to: path)
            return try totalBytes(of: path)
        }
    }
}
