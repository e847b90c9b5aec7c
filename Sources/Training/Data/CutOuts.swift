import Files
import ImageIO
import Layers

/// Objects that are pasted into some of the crops, so that their colors are learned independently
/// of their surroundings.
struct CutOuts: Sendable {
    private let objects: [CutOut]
    private let share: Double
    /// The longer side of an object, as a share of the crop's.
    private static let sizes = 0.35...0.85

    /// - Throws: `FileError` if the folder cannot be read, ``TrainingError`` if it has no cut-outs,
    ///   `ImageError` for a file that is not one.
    init?(_ data: TrainingConfiguration.DataSettings) throws {
        guard let folder = data.cutouts, data.cutoutShare > 0 else { return nil }
        let paths = try listFiles(below: folder, extensions: ["png", "webp"])
        guard !paths.isEmpty else {
            throw TrainingError(
                .noPhotos,
                "\(folder): has no cut-outs; add PNG or WebP files with a transparent background, "
                    + "or leave data.cutouts out")
        }
        objects = try paths.map { try CutOut(contentsOf: $0).resized(toLongSide: data.crop) }
        share = data.cutoutShare
    }

    /// A square crop with or without an object, as the random numbers decide.
    func pasted(onto crop: Image, _ random: RandomStream) -> Image {
        var random = random
        guard random.uniform() < share else { return crop }
        let object = objects[Int(random.next() % UInt64(objects.count))]
        let size =
            Self.sizes.lowerBound
            + (Self.sizes.upperBound - Self.sizes.lowerBound) * random.uniform()
        let scaled = object.resized(toLongSide: max(1, Int(Double(crop.width) * size)))
        let turned = random.uniform() < 0.5 ? scaled.flippedHorizontally() : scaled
        return turned.laid(
            over: crop, x: Int(Double(crop.width - turned.width) * random.uniform()),
            y: Int(Double(crop.height - turned.height) * random.uniform()))
    }
}
