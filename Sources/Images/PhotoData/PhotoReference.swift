public import RetintFiles
public import RetintImages

/// Where a photo is: a file, or one of the photos in a packed dataset.
public enum PhotoReference: Hashable, Sendable, CustomStringConvertible {
    /// An image file, by its path.
    case file(String)
    /// A photo in a packed dataset, by its name there.
    case packed(PhotoPack, name: String)

    /// Whether both are the same photo by path, byte by byte: names that Unicode calls equivalent
    /// are those of different files.
    public static func == (one: PhotoReference, other: PhotoReference) -> Bool {
        switch (one, other) {
        case (.file(let one), .file(let other)): one.utf8.elementsEqual(other.utf8)
        case (.packed(let one, let name), .packed(let other, let otherName)):
            one == other && name.utf8.elementsEqual(otherName.utf8)
        default: false
        }
    }

    /// Hashes the path, or the name.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .file(let path), .packed(_, let path): for byte in path.utf8 { hasher.combine(byte) }
        }
    }

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
        return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
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
    /// - Parameter leaveOut: is told of each photo whose path is not UTF-8, which is left out; if
    ///   nil, such a path is an error.
    /// - Throws: `FileError` if the folder cannot be read.
    public static func files(
        below folder: String, leavingOut leaveOut: ((FileError) -> Void)? = nil
    ) throws(FileError) -> [String] {
        try listFiles(below: folder, extensions: extensions, leavingOut: leaveOut)
    }

    /// Lists photos; the list is empty if there are none.
    ///
    /// - Parameters:
    ///   - source: a folder, whose photos and those of its subfolders are sorted by path; a file
    ///     list (`.txt`), with one path per line, relative to the list's folder, and comments that
    ///     begin with `#`, without the spaces around them; a packed dataset, a `.h5` file or a
    ///     folder of shards; or one photo.
    ///   - leaveOut: is told of each photo in a folder whose path is not UTF-8, which is left out;
    ///     if nil, such a path is an error.
    /// - Throws: `FileError` if the source cannot be read; `TensorFileError` or ``PhotoError`` if a
    ///   `.h5` file is not a packed dataset, or if a shard is missing or does not belong there.
    public static func list(
        _ source: some PathConvertible, leavingOut leaveOut: ((FileError) -> Void)? = nil
    ) throws -> [PhotoReference] {
        let source = source.filePath.string
        if PhotoPack.isFile(named: source) || PackShards.isHeld(in: source) {
            let pack = try PhotoPack(contentsOf: source)
            return pack.names.map { .packed(pack, name: $0) }
        }
        if source.hasSuffix(".txt") { return try lines(of: source) }
        if hasExtension(source), try !isDirectory(source) { return [.file(source)] }
        return try files(below: source, leavingOut: leaveOut).map { .file($0) }
    }

    private static func lines(of list: String) throws(FileError) -> [PhotoReference] {
        let folder = list.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(list[...$0]) } ?? ""
        // Only what ends lines on Linux and Windows: other line breaks may be part of a name.
        let lines = try readFile(list, maximumBytes: 1 << 28).withoutByteOrderMark
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var photos: [PhotoReference] = []
        for (index, line) in lines.enumerated() {
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let end = text.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? text.startIndex
            let bytes = text[..<end].drop { $0 == UInt8(ascii: " ") }
            guard let first = bytes.first, first != UInt8(ascii: "#") else { continue }
            guard let path = String(validating: bytes, as: UTF8.self) else {
                throw FileError(
                    path: list, operation: "read", reason: "line \(index + 1) is not UTF-8",
                    remedy: "rename the photo, and save the list as UTF-8")
            }
            photos.append(.file(path.isAbsolutePath ? path : folder + path))
        }
        return photos
    }
}
