import Files
import ImageIO
import Layers

/// Objects that are laid over some of the crops: what is seen then does not depend on where it is.
struct CutOuts: Sendable {
    private let objects: [CutOut]
    private let share: Double
    /// The object's longer side, as a share of the crop's.
    private static let sizes = 0.35...0.85

    /// - Throws: `FileError` if the folder cannot be read, ``TrainingError`` if there is none in
    ///   it, `ImageError` for one that is none.
    init?(_ data: TrainingConfiguration.Data) throws {
        guard let folder = data.cutouts, data.cutoutShare > 0 else { return nil }
        let paths = try listFiles(below: folder, extensions: ["png", "webp"])
        guard !paths.isEmpty else {
            throw TrainingError(
                .noPhotos,
                "\(folder): holds no cut-outs; put PNG or WebP files with a transparent ground "
                    + "there, as Scripts/datasets --cutouts does, or leave data.cutouts out")
        }
        objects = try paths.map { try CutOut(contentsOf: $0).resized(toLongSide: data.crop) }
        share = data.cutoutShare
    }

    /// `picture`, a square, with or without an object: the same for the same random numbers.
    func laid(over picture: Image, _ random: RandomStream) -> Image {
        var random = random
        guard random.uniform() < share else { return picture }
        let object = objects[Int(random.next() % UInt64(objects.count))]
        let size =
            Self.sizes.lowerBound
            + (Self.sizes.upperBound - Self.sizes.lowerBound) * random.uniform()
        let scaled = object.resized(toLongSide: max(1, Int(Double(picture.width) * size)))
        let turned = random.uniform() < 0.5 ? scaled.flippedHorizontally() : scaled
        return turned.laid(
            over: picture, x: Int(Double(picture.width - turned.width) * random.uniform()),
            y: Int(Double(picture.height - turned.height) * random.uniform()))
    }
}
