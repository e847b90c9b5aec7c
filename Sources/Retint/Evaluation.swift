import ColorScience
import ImageIO
import Models
import Photos

/// How well a model colors pictures whose colors are known, beside how well gray and one color for
/// all pixels do.
///
/// Pictures are compared at the network's size, as papers do.
package struct Evaluation {
    private let colorizer: Colorizer
    /// The mean a and b of the pictures.
    private let meanColor: (a: Float, b: Float)
    package private(set) var colored: [PictureQuality] = []
    package private(set) var gray: [PictureQuality] = []
    package private(set) var uniform: [PictureQuality] = []
    private var colorfulness = 0.0

    /// - Parameter meanColor: the mean a and b of the pictures, see ``MeanColor``.
    package init(_ colorizer: Colorizer, meanColor: (a: Float, b: Float)) {
        (self.colorizer, self.meanColor) = (colorizer, meanColor)
    }

    package var images: Int { colored.count }
    /// Of the pictures themselves: how colorful they are is what can be told of them.
    package var originalColorfulness: Double? {
        images > 0 ? colorfulness / Double(images) : nil
    }

    /// Lets the model color one more picture.
    ///
    /// - Returns: the picture at the network's size, and as the model colors it.
    @discardableResult
    package mutating func add(_ photo: Image) throws -> (original: Image, colored: Image) {
        let (height, width) = colorizer.networkSize
        let picture = photo.resized(to: width, height: height)
        let colors = try colorizer.colors(of: picture)
        let estimate = picture.withColor(a: colors.colorPlane(0), b: colors.colorPlane(1))
        let count = width * height
        let mean = picture.withColor(
            a: [Float](repeating: meanColor.a, count: count),
            b: [Float](repeating: meanColor.b, count: count))
        let qualities = try [estimate, picture.gray, mean].map {
            try PictureQuality($0, original: picture)
        }
        colored.append(qualities[0])
        gray.append(qualities[1])
        uniform.append(qualities[2])
        colorfulness += try ColorScience.colorfulness(ofRGB: picture.pixels)
        return (picture, estimate)
    }
}

/// The mean a and b over the pixels of pictures, each picture counting alike.
package struct MeanColor {
    private var (a, b, count) = (0.0, 0.0, 0)

    package init() {}

    package mutating func add(_ photo: Image) {
        // A small copy has the same mean, and takes a hundredth of the time.
        let planes = lab(fromRGB: photo.resized(to: 64, height: 64).pixels)
        a += planes.a.reduce(0) { $0 + Double($1) } / Double(planes.count)
        b += planes.b.reduce(0) { $0 + Double($1) } / Double(planes.count)
        count += 1
    }

    /// 0 before any picture.
    package var value: (a: Float, b: Float) {
        (Float(a / Double(max(count, 1))), Float(b / Double(max(count, 1))))
    }
}
