import Files
import ImageIO
import TensorFiles
import TensorGraph

/// A packed dataset: photos in one HDF5 file.
///
/// Each photo is a dataset of bytes, `photos/<name>`, [height, width, 3]. Photos are read without
/// decoding, and training on a network drive opens one file instead of thousands.
public final class PhotoPack: Sendable, Hashable {
    private static let group = "photos"
    private static let marker = "retint_photo_pack"
    private static let version = 1

    /// The path of the file.
    public let path: String
    /// The names of the photos, in the order in which they were written.
    public let names: [String]
    private let reader: HDF5Reader

    /// Opens a pack. Photos are read one by one, see ``PhotoReference/image(minimumSide:)``.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read, ``PhotoError`` if it is not a pack.
    public init(contentsOf path: some PathConvertible) throws {
        self.path = path.filePath.string
        reader = try HDF5Reader(path: path)
        guard try reader.attributes()[Self.marker]?.integer == Self.version else {
            throw PhotoError(
                .notAPack,
                "\(self.path): is not a packed dataset; create one with `retint dataset pack`")
        }
        names = try reader.datasetNames(under: Self.group)
    }

    /// Whether both are the same file, by path.
    public static func == (one: PhotoPack, other: PhotoPack) -> Bool { one.path == other.path }
    /// Hashes the path.
    public func hash(into hasher: inout Hasher) { hasher.combine(path) }

    /// Reads a photo after checking its shape.
    func image(_ name: String) throws(ImageError) -> Image {
        let dataset = "\(Self.group)/\(name)"
        let file = "\(path)/\(name)"
        do {
            let shape = try reader.shape(of: dataset)
            let limits = ImageLimits.default
            guard shape.rank == 3, shape[2] == 3, shape[0] > 0, shape[1] > 0,
                try reader.storedType(of: dataset) == .uint8
            else {
                throw ImageError.damaged(file, "is not bytes of shape [height, width, 3]")
            }
            try limits.check(width: shape[1], height: shape[0], file: file)
            let bytes = try reader.read(dataset, expecting: shape).integers ?? []
            return Image(
                width: shape[1], height: shape[0],
                pixels: bytes.map { UInt8(truncatingIfNeeded: $0) })
        } catch let error as ImageError {
            throw error
        } catch {
            throw ImageError.damaged(file, "cannot be read: \(error)")
        }
    }
}

// MARK: Writing

extension PhotoPack {
    /// Writes photos into a pack, sorted by name. The file appears once it is complete.
    ///
    /// A photo is named after its file. Where several files have the same name, all but the first
    /// get a number in front: `1-photo.png`.
    ///
    /// - Parameter shortSide: larger photos are scaled down to this short side, in pixels.
    /// - Throws: `ImageError` if a photo cannot be read, `TensorFileError` if the pack cannot be
    ///   written.
    public static func write(
        _ photos: [PhotoReference], to path: some PathConvertible, shortSide: Int
    ) throws {
        let names = uniqueNames(photos.map { "\($0)" })
        let named = zip(names, photos).sorted { $0.0 < $1.0 }
        let writer = try HDF5Writer(path: path)
        try writer.setAttribute(marker, to: .integer(version))
        try writer.createGroup(group)
        for (name, photo) in named {
            let image = try photo.image(minimumSide: shortSide)
                .scaledDown(toShortSide: shortSide)
            let shape = Shape([image.height, image.width, 3])
            try writer.write(
                StoredTensor(shape: shape, bytes: image.pixels), to: "\(group)/\(name)")
        }
        try writer.finish()
    }

    /// The last component of each path, with a number in front where it is taken already.
    static func uniqueNames(_ paths: [String]) -> [String] {
        var used: Set<String> = []
        return paths.map { path in
            let name = String(path.split(separator: "/").last ?? "photo")
            var unique = name
            var number = 1
            while !used.insert(unique).inserted {
                unique = "\(number)-\(name)"
                number += 1
            }
            return unique
        }
    }
}
