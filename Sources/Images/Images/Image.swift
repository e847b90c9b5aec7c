/// An image in memory: sRGB, 8 bits per channel.
public struct Image: Hashable, Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// `3 * width * height` bytes: rows from top to bottom, pixels from left to right, each red,
    /// green, blue.
    public var pixels: [UInt8]

    /// An image of the given pixels, in the order of ``pixels``.
    ///
    /// - Precondition: The sides are positive and `pixels` has `3 * width * height` bytes.
    public init(width: Int, height: Int, pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.pixels = pixels
        checkPixels()
    }

    /// An image of one color.
    ///
    /// - Precondition: The sides are positive.
    public init(width: Int, height: Int, red: UInt8, green: UInt8, blue: UInt8) {
        var pixels = [UInt8](repeating: red, count: 3 * width * height)
        for start in stride(from: 0, to: pixels.count, by: 3) {
            pixels[start + 1] = green
            pixels[start + 2] = blue
        }
        self.init(width: width, height: height, pixels: pixels)
    }

    /// Traps unless `pixels`, which anyone may set, has the right length. Called before taking
    /// pointers into it.
    func checkPixels() {
        precondition(
            width > 0 && height > 0 && pixels.count == 3 * width * height,
            "\(pixels.count) bytes do not fill \(width) × \(height) RGB pixels")
    }
}
