/// The size of a file and a digest of both its ends, which distinguish most files without reading
/// them completely: a re-encoded photo differs at its end.
package struct FileSignature: Hashable, Sendable, CustomStringConvertible {
    private static let endBytes = 4096

    package let byteCount: Int
    /// SHA-256, 32 bytes.
    package let digest: [UInt8]

    package init(byteCount: Int, digest: [UInt8]) {
        (self.byteCount, self.digest) = (byteCount, digest)
    }

    /// - Throws: ``FileError`` if the file cannot be read.
    package init(of file: RegularFile) throws(FileError) {
        byteCount = file.byteCount
        var hash = ContentHash()
        for offset in [0, max(byteCount - Self.endBytes, 0)] {
            hash.update(try file.bytes(at: offset, count: Self.endBytes))
        }
        digest = hash.digest
    }

    /// Both, in digits.
    package var description: String { "\(byteCount) \(digest.hexadecimal)" }
}
