import SystemPackage

/// The SHA-256 digest of a file, and the name under which it is known.
///
/// It is coded as a resource descriptor of in-toto: `{"name": …, "digest": {"sha256": …}}`.
public struct FileDigest: Hashable, Sendable {
    /// The name of the file, such as its path relative to a folder.
    public let name: String
    /// 64 hexadecimal digits.
    public let sha256: String

    private static let partBytes = 1 << 20

    /// Reads a file and computes its digest.
    ///
    /// - Parameters:
    ///   - name: the name of the file.
    ///   - path: where it is.
    /// - Throws: ``FileError`` if it cannot be read.
    public init(name: String, of path: some PathConvertible) throws(FileError) {
        let file = try RegularFile(path)
        var (hash, offset) = (ContentHash(), 0)
        while true {
            let part = try file.bytes(at: offset, count: Self.partBytes)
            if part.isEmpty { break }
            hash.update(part)
            offset += part.count
        }
        (self.name, sha256) = (name, hash.digest.hexadecimal)
    }

    /// Whether the digest has the form of one.
    package var isWellFormed: Bool {
        let digits = Set("0123456789abcdef".utf8)
        return sha256.utf8.count == 64 && sha256.utf8.allSatisfy(digits.contains)
    }
}

extension FileDigest: Codable {
    private enum CodingKeys: String, CodingKey { case name, digest }
    private enum DigestKeys: String, CodingKey { case sha256 }

    /// Decodes a resource descriptor.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        sha256 = try container.nestedContainer(keyedBy: DigestKeys.self, forKey: .digest)
            .decode(String.self, forKey: .sha256)
    }

    /// Encodes a resource descriptor.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        var digests = container.nestedContainer(keyedBy: DigestKeys.self, forKey: .digest)
        try digests.encode(sha256, forKey: .sha256)
    }
}

/// All files in a folder and its subfolders, hidden ones included, sorted by path; of a file, that
/// itself. Symbolic links in the folder are not followed to folders.
///
/// - Throws: ``FileError`` if a folder cannot be read.
package func allFiles(at path: some PathConvertible) throws(FileError) -> [String] {
    let path = path.filePath
    guard try isDirectory(path) else { return [path.string] }
    return try files(in: path, listing: path.appending("."))
}

/// - Parameter place: the folder as it is opened, which may not be a symbolic link.
private func files(in folder: FilePath, listing place: FilePath) throws(FileError) -> [String] {
    guard let names = components(of: place) else {
        throw FileError(path: folder.string, operation: "read")
    }
    var found: [String] = []
    for name in names.sorted(by: { String.precedesAsPath($0.string, $1.string) }) {
        let path = folder.appending(name)
        try requireUTF8(path, for: "read", remedy: "rename or remove it")
        let kind = try FileKind(at: path, followingLinks: false)
        found += try kind == .directory ? files(in: path, listing: path) : [path.string]
    }
    return found
}
