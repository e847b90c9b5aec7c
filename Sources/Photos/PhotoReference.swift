public import Files
public import ImageIO

/// Where a photo is: a file, or a name in a packed dataset.
public enum PhotoReference: Hashable, Sendable, CustomStringConvertible {
    /// An image file, by its path.
    case file(String)
    /// A photo of a packed dataset, by its name.
    case packed(PhotoPack, name: String)

    /// The path; for a photo of a pack, the pack's path and the photo's name.
    public var description: String {
        switch self {
        case .file(let path): path
        case .packed(let pack, let name): "\(pack.path)/\(name)"
        }
    }

    /// Reads the photo.
    ///
    /// - Parameter minimumSide: as for `Image.init(contentsOf:limits:minimumSide:)`.
    /// - Throws: `ImageError` if it cannot be read or decoded.
    public func image(minimumSide: Int? = nil) throws(ImageError) -> Image {
        switch self {
        case .file(let path): try Image(contentsOf: path, minimumSide: minimumSide)
        case .packed(let pack, let name): try pack.image(name)
        }
    }
}

extension PhotoReference {
    /// The file extensions of photos, in lower case.
    package static let extensions: Set<String> = ["jpg", "jpeg", "png", "webp"]

    /// Lists photos.
    ///
    /// - Parameter source: a folder, whose photos and those of its subfolders are sorted by path; a
    ///   file list (`.txt`) with one path per line, relative to the list's folder, and comments
    ///   after `#`; or a packed dataset (`.h5`).
    /// - Throws: `FileError` if it cannot be read; `TensorFileError` or ``PhotoPackError`` if it is
    ///   not a packed dataset.
    public static func list(_ source: some PathConvertible) throws -> [PhotoReference] {
        let source = source.filePath.string
        if source.hasSuffix(".h5") || source.hasSuffix(".hdf5") {
            let pack = try PhotoPack(path: source)
            return pack.names.map { .packed(pack, name: $0) }
        }
        if source.hasSuffix(".txt") { return try lines(of: source) }
        return try listFiles(below: source, extensions: extensions).map { .file($0) }
    }

    private static func lines(of list: String) throws(FileError) -> [PhotoReference] {
        let folder = list.lastIndex(of: "/").map { String(list[...$0]) } ?? ""
        let text = String(decoding: try readFile(list, maximumBytes: 1 << 28), as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).compactMap { line in
            let path = line.drop { $0 == " " }
            guard !path.isEmpty, !path.hasPrefix("#") else { return nil }
            return .file(path.hasPrefix("/") ? String(path) : folder + path)
        }
    }
}
