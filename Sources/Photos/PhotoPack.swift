import ImageIO
import TensorFiles
import TensorGraph

/// Photos in one HDF5 file: a dataset of bytes `photos/<name>`, [height, width, 3], for each.
///
/// Reading a photo needs no decoder, and training on a network drive opens one file instead of
/// thousands.
public final class PhotoPack: Sendable, Hashable {
    private static let group = "photos"
    private static let marker = "retint_photo_pack"
    private static let version = 1

    /// The path of the file.
    public let path: String
    /// The names of the photos, in the order in which they were packed.
    public let names: [String]
    private let reader: HDF5Reader

    /// Opens a pack; photos are read on demand.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read; ``PhotoPackError`` if it is not a
    ///   packed dataset.
    package init(path: String) throws {
        self.path = path
        reader = try HDF5Reader(path: path)
        guard try reader.attributes()[Self.marker]?.integer == Self.version else {
            throw PhotoPackError(
                "\(path): is no packed dataset; make one with `retint dataset pack`")
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
                throw ImageError.damaged(
                    file, "is not a dataset of bytes of shape [height, width, 3]")
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

    /// Writes photos into a pack one by one; the file appears at its path once all are written.
    ///
    /// - Parameters:
    ///   - names: unique names that neither begin nor end with `/`.
    ///   - photo: returns the photo for the name at an index.
    /// - Throws: `TensorFileError` if it cannot be written; the errors of `photo`.
    package static func write(
        _ names: [String], to path: String, photo: (Int) throws -> Image
    ) throws {
        let writer = try HDF5Writer(path: path)
        try writer.setAttribute(marker, to: .integer(version))
        try writer.createGroup(group)
        for (index, name) in names.enumerated() {
            let image = try photo(index)
            let shape = Shape([image.height, image.width, 3])
            try writer.write(
                StoredTensor(shape: shape, bytes: image.pixels), to: "\(group)/\(name)")
        }
        try writer.finish()
    }
}

/// The error for a file that is not a packed dataset.
public struct PhotoPackError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path and the problem.
    public let description: String

    init(_ description: String) { self.description = description }
}
