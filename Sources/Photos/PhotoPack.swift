import ImageIO
import TensorFiles
import TensorGraph

/// Photos in one HDF5 file: a dataset of bytes for each, `photos/<name>`, [height, width, 3], as
/// `h5py` shows them. Reading one needs no decoder, and a training on a network drive opens one file
/// instead of thousands.
package final class PhotoPack: Sendable, Hashable {
    private static let group = "photos"
    private static let marker = "retint_photo_pack"
    private static let version = 1

    package let path: String
    /// In the order in which they were packed.
    package let names: [String]
    private let reader: HDF5Reader

    /// Opens a pack; photos are read one by one.
    ///
    /// - Throws: `TensorFileError` if the file cannot be read or is no pack.
    package init(path: String) throws {
        self.path = path
        reader = try HDF5Reader(path: path)
        guard try reader.attributes()[Self.marker]?.integer == Self.version else {
            throw PhotoPackError(
                "\(path): is no packed dataset; make one with `retint dataset pack`")
        }
        names = try reader.datasetNames(under: Self.group)
    }

    package static func == (one: PhotoPack, other: PhotoPack) -> Bool { one.path == other.path }
    package func hash(into hasher: inout Hasher) { hasher.combine(path) }

    /// Reads a photo, and checks its shape first.
    func image(_ name: String) throws(ImageError) -> Image {
        let dataset = "\(Self.group)/\(name)"
        let file = "\(path)/\(name)"
        do {
            let shape = try reader.shape(of: dataset)
            let limits = ImageLimits.default
            guard shape.rank == 3, shape[2] == 3, shape[0] > 0, shape[1] > 0,
                try reader.storedType(of: dataset) == .uint8
            else {
                throw ImageError.damaged(file, "holds no bytes of shape [height, width, 3]")
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

    /// Writes photos into a pack as they come; it stands at its path once all are written.
    ///
    /// - Parameters:
    ///   - names: without `/` at their ends, each once.
    ///   - photo: the photo of the name at that place.
    /// - Throws: `TensorFileError` if it cannot be written; what `photo` throws.
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

/// Why a file is no packed dataset.
package struct PhotoPackError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
