public import RetintFiles
public import RetintImages

/// Where a photo is: a file, or one of the photos in a packed dataset.
public enum PhotoReference: Hashable, Sendable, CustomStringConvertible {
    /// An image file, by its path.
    case file(String)
    /// A photo in a packed dataset, by its name there.
    case packed(PhotoPack, name: String)

    /// The path of the file; for a packed photo the path of the pack, `/`, and the photo's name.
    public var description: String {
        switch self {
        case .file(let path): path
        case .packed(let pack, let name): "\(pack.path)/\(name)"
        }
    }

    /// The path of the folder that a file is in; nil for a packed photo.
    package var folder: String? {
        guard case .file(let path) = self else { return nil }
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// The shard of a packed dataset that the photo is in, from 0; nil without shards.
    package var shard: Int? {
        guard case .packed(let pack, let name) = self else { return nil }
        return pack.shard(of: name)
    }

    /// Asks the system to read packed photos that are needed soon, in the order in which they are
    /// stored.
    package static func readAhead(_ photos: [PhotoReference]) {
        var names: [PhotoPack: [String]] = [:]
        for case .packed(let pack, let name) in photos { names[pack, default: []].append(name) }
        for (pack, names) in names { pack.readAhead(names) }
    }

    /// Reads the photo.
    ///
    /// - Parameter minimumSide: as for `Image.init(contentsOf:limits:minimumSide:)`.
    /// - Throws: `ImageError` if the photo is missing, damaged or too large.
    public func image(minimumSide: Int? = nil) throws(ImageError) -> Image {
        switch self {
        case .file(let path): try Image(contentsOf: path, minimumSide: minimumSide)
        case .packed(let pack, let name): try pack.image(name)
        }
    }

    /// Reads the photo, scaled down to a short side in pixels if it is larger.
    ///
    /// - Throws: as ``image(minimumSide:)``.
    package func image(scaledToShortSide side: Int) throws(ImageError) -> Image {
        try image(minimumSide: side).scaledDown(toShortSide: side)
    }
}

extension PhotoReference {
    /// The extensions of the files that are photos, in lower case.
    public static let extensions = ImageFormat.readableExtensions

    /// Whether a path has the extension of a photo.
    package static func hasExtension(_ path: some PathConvertible) -> Bool {
        extensions.contains(path.filePath.extension?.lowercased() ?? "")
    }

    /// Whether `path` is a folder, such as one of photos.
    ///
    /// - Throws: `FileError` if nothing is there or it cannot be examined.
    public static func isFolder(_ path: some PathConvertible) throws(FileError) -> Bool {
        try isDirectory(path)
    }

    /// The paths of the photos in a folder and its subfolders, sorted.
    ///
    /// - Throws: `FileError` if the folder cannot be read.
    public static func files(below folder: String) throws(FileError) -> [String] {
        try listFiles(below: folder, extensions: extensions)
    }

    /// Lists photos; the list is empty if there are none.
    ///
    /// - Parameter source: a folder, whose photos and those of its subfolders are sorted by path; a
    ///   file list (`.txt`), with one path per line, relative to the list's folder, and comments
    ///   that begin with `#`; a packed dataset, a `.h5` file or a folder of shards; or one photo.
    /// - Throws: `FileError` if the source cannot be read; `TensorFileError` or ``PhotoError`` if a
    ///   `.h5` file is not a packed dataset, or if a shard is missing or does not belong there.
    public static func list(_ source: some PathConvertible) throws -> [PhotoReference] {
        let source = source.filePath.string
        if PhotoPack.isFile(named: source) || PackShards.isHeld(in: source) {
            let pack = try PhotoPack(contentsOf: source)
            return pack.names.map { .packed(pack, name: $0) }
        }
        if source.hasSuffix(".txt") { return try lines(of: source) }
        if hasExtension(source), try !isDirectory(source) { return [.file(source)] }
        return try files(below: source).map { .file($0) }
    }

    private static func lines(of list: String) throws(FileError) -> [PhotoReference] {
        let folder = list.lastIndex(of: "/").map { String(list[...$0]) } ?? ""
        let text = String(decoding: try readFile(list, maximumBytes: 1 << 28), as: UTF8.self)
        // Only what ends lines on Linux and Windows: other line breaks may be part of a name.
        return text.unicodeScalars.split(separator: "\n").compactMap { scalars in
            let line = scalars.last == "\r" ? scalars.dropLast() : scalars
            let path = String(Substring(line.drop { $0 == " " }))
            guard !path.isEmpty, !path.hasPrefix("#") else { return nil }
            return .file(path.hasPrefix("/") ? path : folder + path)
        }
    }
}
