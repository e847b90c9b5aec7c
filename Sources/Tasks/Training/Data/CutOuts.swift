import Glibc
import RetintColor
import RetintFiles
import RetintImages
import RetintLayers
import RetintTensors

/// Objects that are pasted into some of the crops, so that their colors are learned independently
/// of their surroundings, and onto plain backgrounds, so that those are learned, too.
struct CutOuts: Sendable {
    private let objects: [CutOut]
    private let share, groundShare: Double
    /// The longer side of an object, as a fraction of the crop's side.
    private static let sizes = 0.35...0.85

    /// - Throws: `FileError` if the folder cannot be read, ``TrainingError`` if it has no cut-outs,
    ///   `ImageError` for a file that is not one.
    init?(_ data: TrainingConfiguration.DataSettings) throws {
        guard let folder = data.cutouts, data.cutoutShare > 0 else { return nil }
        let paths = try listFiles(below: folder, extensions: ["png", "webp"])
        guard !paths.isEmpty else {
            throw TrainingError(
                .noPhotos,
                file: folder,
                "has no cut-outs; add PNG or WebP files with a transparent background, "
                    + "or omit data.cutouts")
        }
        objects = try paths.map { try CutOut(contentsOf: $0).resized(toLongSide: data.largestSide) }
        (share, groundShare) = (data.cutoutShare, data.cutoutGrounds)
    }

    /// Whether a crop gets an object, as the random numbers decide.
    func changesCrop(_ random: RandomStream) -> Bool {
        var random = random
        return random.uniform() < share
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
        let x = Int(Double(crop.width - turned.width) * random.uniform())
        let y = Int(Double(crop.height - turned.height) * random.uniform())
        let ground = random.uniform() < groundShare ? Self.plainGround(crop.width, &random) : crop
        return turned.laid(over: ground, x: x, y: y)
    }

    /// A white, gray or colored square, like studio and catalog backgrounds.
    private static func plainGround(_ side: Int, _ random: inout RandomStream) -> Image {
        let (kind, amount) = (random.uniform(), random.uniform())
        let (chroma, hue) = (10 + 40 * random.uniform(), 2 * Double.pi * random.uniform())
        var color = (lightness: 93 + 7 * amount, chroma: 0.0)
        if kind > 0.4 { color.lightness = 15 + 78 * amount }
        if kind > 0.7 { color.chroma = chroma }
        let pixel =
            LabPlanes(
                l: [Float(color.lightness)], a: [Float(color.chroma * cos(hue))],
                b: [Float(color.chroma * sin(hue))]
            ).rgb()
        return Image(width: side, height: side, red: pixel[0], green: pixel[1], blue: pixel[2])
    }
}
