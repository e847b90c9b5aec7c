import RetintFiles
import RetintImages
import RetintTensorFiles

/// Photos in one HDF5 file.
struct PackFile: PackedPhotos {
    private static let group = "photos"
    private static let marker = "retint_photo_pack"
    private static let version = 1

    let names: [String]
    let signature: String
    private let reader: HDF5Reader

    init(_ path: String) throws {
        reader = try HDF5Reader(path: path)
        guard try reader.attributes()[Self.marker]?.integer == Self.version else {
            throw PhotoError(
                .notAPack, file: path,
                "is not a packed dataset; create one with `retint dataset pack`"
            )
        }
        names = try reader.datasetNames(under: Self.group)
        signature = try FileSignature(of: RegularFile(path)).description
    }

    func shard(of name: String) -> Int? { nil }

    func image(_ name: String) throws(ImageError) -> Image {
        let dataset = "\(Self.group)/\(name)"
        let file = "\(reader.path)/\(name)"
        do {
            let (height, width) = try size(of: name)
            try ImageLimits.default.check(width: width, height: height, file: file)
            let pixels = try reader.readBytes(dataset, expecting: [height, width, 3])
            return Image(width: width, height: height, pixels: pixels)
        } catch let error as ImageError {
            throw error
        } catch {
            throw ImageError.damaged(file, "cannot be read: \(error)")
        }
    }

    func readAhead(_ names: [String]) {
        let datasets = names.map { "\(Self.group)/\($0)" }
        let places = datasets.map { (try? reader.offset(of: $0)) ?? 0 }
        for (_, dataset) in zip(places, datasets).sorted(by: { $0 < $1 }) {
            reader.readAhead(dataset)
        }
    }

    private func size(of name: String) throws -> (height: Int, width: Int) {
        let dataset = "\(Self.group)/\(name)"
        let shape = try reader.shape(of: dataset)
        guard shape.rank == 3, shape[2] == 3, shape[0] > 0, shape[1] > 0,
            try reader.storedType(of: dataset) == .uint8
        else {
            throw ImageError.damaged(
                "\(reader.path)/\(name)", "is not bytes of shape [height, width, 3]")
        }
        return (shape[0], shape[1])
    }
}

extension PackFile {
    typealias NamedPhoto = (name: String, photo: PhotoReference)

    /// Writes photos in the given order; the file appears once it is complete.
    ///
    /// - Parameters:
    ///   - shortSide: larger photos are scaled down to this short side, in pixels.
    ///   - shard: the number of this shard and the total; nil for a pack of one file.
    static func write(
        _ photos: some Sequence<NamedPhoto>, to path: some PathConvertible, shortSide: Int,
        shard: (number: Int, of: Int)? = nil
    ) throws {
        let writer = try HDF5Writer(path: path)
        try writer.setAttribute(marker, to: .integer(version))
        if let shard { try writer.setAttribute("shard", to: .integers([shard.number, shard.of])) }
        try writer.createGroup(group)
        for (name, photo) in photos {
            let image = try photo.image(scaledToShortSide: shortSide)
            try writer.write(
                StoredTensor(shape: [image.height, image.width, 3], bytes: image.pixels),
                to: "\(group)/\(name)")
        }
        try writer.finish()
    }

    /// Where the bytes of each photo are in the file.
    var extents: [(name: String, extent: PhotoExtent)] {
        get throws {
            try names.map { name in
                let (height, width) = try size(of: name)
                guard let offset = try reader.offset(of: "\(Self.group)/\(name)") else {
                    throw PhotoError(
                        .notAPack, "\(reader.path)/\(name): is not stored contiguously")
                }
                return (name, PhotoExtent(offset: offset, height: height, width: width))
            }
        }
    }
}

/// Where the bytes of a photo are in a file.
struct PhotoExtent: Hashable, Sendable {
    let offset, height, width: Int

    var byteCount: Int { 3 * height * width }

    /// Whether the numbers are valid for a photo in a file of that size.
    func isIn(_ fileBytes: Int) -> Bool {
        // Bounded first, so that nothing overflows.
        let sides = 1...(1 << 20)
        return sides.contains(height) && sides.contains(width) && offset >= 0
            && byteCount <= fileBytes && offset <= fileBytes - byteCount
    }
}
