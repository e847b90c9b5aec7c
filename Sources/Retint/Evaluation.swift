import ImageIO

/// How well a model colors pictures whose colors are known, beside how well gray does.
///
/// Pictures are compared at the network's size, as papers do.
package struct Evaluation {
    private let colorizer: Colorizer
    private var colored = ColorQualityMeter()
    private var gray = ColorQualityMeter()
    private var original = ColorQualityMeter()

    package init(_ colorizer: Colorizer) {
        self.colorizer = colorizer
    }

    package var images: Int { colored.images }
    /// Of the pictures that the model colored.
    package var quality: ColorQuality? { colored.mean }
    /// Of the pictures without color.
    package var grayQuality: ColorQuality? { gray.mean }
    /// Of the pictures themselves: how colorful they are is what can be told of them.
    package var originalColorfulness: Double? { original.mean?.colorfulness }

    /// Lets the model color one more picture.
    package mutating func add(_ photo: Image) throws {
        let (height, width) = colorizer.networkSize
        let picture = photo.resized(to: width, height: height)
        let (a, b) = try colorizer.color(of: picture)
        try colored.add(picture.withColor(a: a, b: b), original: picture)
        try gray.add(picture.gray, original: picture)
        try original.add(picture, original: picture)
    }
}
