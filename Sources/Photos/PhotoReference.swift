import Files
import ImageIO

/// Where a photo is: a file of its own, or one of a packed dataset.
package enum PhotoReference: Hashable, Sendable, CustomStringConvertible {
    case file(String)
    case packed(PhotoPack, name: String)

    /// The path; for a packed photo that of the pack and the name in it.
    package var description: String {
        switch self {
        case .file(let path): path
        case .packed(let pack, let name): "\(pack.path)/\(name)"
        }
    }

    /// Reads the photo.
    ///
    /// - Parameter minimumSide: as for `Image.init(contentsOf:limits:minimumSide:)`.
    package func image(minimumSide: Int? = nil) throws(ImageError) -> Image {
        switch self {
        case .file(let path): try Image(contentsOf: path, minimumSide: minimumSide)
        case .packed(let pack, let name): try pack.image(name)
        }
    }
}

extension PhotoReference {
    /// What the names of photos end with.
    package static let extensions: Set<String> = ["jpg", "jpeg", "png", "webp"]

    /// The photos of a folder and its subfolders by path, of a file list (`.txt`: a path a line,
    /// from the list's folder; `#` begins a comment), or of a packed dataset (`.h5`).
    ///
    /// - Throws: `FileError` if it cannot be read, `TensorFileError` for a pack that is none.
    package static func list(_ source: String) throws -> [PhotoReference] {
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
