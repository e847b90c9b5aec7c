/// A picture in memory: RGB, 8 bits a channel.
public struct Image: Hashable, Sendable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// `3 * width * height` bytes: rows from the top, in them pixels from the left, in them red,
    /// green and blue.
    public var pixels: [UInt8]

    /// - Precondition: The sides are positive and `pixels` fills them.
    public init(width: Int, height: Int, pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.pixels = pixels
        checkPixels()
    }

    /// A picture in one color.
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

    /// `pixels` may have been given another length: to be called before pointers into it are made.
    func checkPixels() {
        precondition(
            width > 0 && height > 0 && pixels.count == 3 * width * height,
            "\(pixels.count) bytes do not fill \(width) × \(height) RGB pixels")
    }
}
