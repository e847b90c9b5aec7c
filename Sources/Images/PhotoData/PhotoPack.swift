public import RetintFiles
import RetintImages

/// A packed dataset: photos in one HDF5 file, or in a folder of several, its shards.
///
/// Each photo is a dataset of bytes, `photos/<name>`, [height, width, 3]. Photos are read without
/// decoding, and training on a network drive opens one file instead of thousands.
public final class PhotoPack: Sendable, Hashable {
    /// The path of the file or folder.
    public let path: String
    /// The names of the photos: for a file in the order in which they were written, for a folder of
    /// shards sorted.
    public var names: [String] { photos.names }
    private let photos: any PackedPhotos

    /// Opens a pack. Photos are read one by one, see ``PhotoReference/image(minimumSide:)``.
    ///
    /// - Throws: `TensorFileError` or `FileError` if a file cannot be read, ``PhotoError`` if it is
    ///   not a pack, or if a shard is missing or is not the one that belongs there.
    public init(contentsOf path: some PathConvertible) throws {
        self.path = path.filePath.string
        photos = try isDirectory(path) ? PackShards(self.path) : PackFile(self.path)
    }

    /// Whether both are the same file or folder, by path.
    public static func == (one: PhotoPack, other: PhotoPack) -> Bool { one.path == other.path }
    /// Hashes the path.
    public func hash(into hasher: inout Hasher) { hasher.combine(path) }

    /// Differs between packs of different photos.
    package var signature: String { photos.signature }

    /// The shard that a photo is in, from 0; nil without shards.
    func shard(of name: String) -> Int? { photos.shard(of: name) }

    /// Reads a photo after checking its shape.
    func image(_ name: String) throws(ImageError) -> Image { try photos.image(name) }

    /// Asks the system to read photos that are needed soon, in the order in which they are stored.
    func readAhead(_ names: [String]) { photos.readAhead(names) }
}

/// How the photos of a pack are stored.
protocol PackedPhotos: Sendable {
    var names: [String] { get }
    /// Differs between packs of different photos.
    var signature: String { get }
    /// The shard that a photo is in, from 0; nil without shards.
    func shard(of name: String) -> Int?
    func image(_ name: String) throws(ImageError) -> Image
    /// Asks the system to read photos in the order in which they are stored. Nothing fails: the
    /// photos are read later.
    func readAhead(_ names: [String])
}
