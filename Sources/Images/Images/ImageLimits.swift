/// Limits on images from untrusted files, where a few kilobytes can claim to hold gigabytes or keep
/// a decoder busy for minutes.
public struct ImageLimits: Hashable, Sendable {
    /// The largest product of width and height.
    public var maximumPixels: Int
    /// The largest width and the largest height in pixels.
    public var maximumSide: Int
    /// The largest number of scans of a progressive JPEG.
    public var maximumScans: Int
    /// The largest size of the file in bytes.
    public var maximumFileBytes: Int

    /// 64 megapixels, 16,384 pixels a side, 100 scans and 256 MiB by default.
    public init(
        maximumPixels: Int = 64_000_000, maximumSide: Int = 16_384, maximumScans: Int = 100,
        maximumFileBytes: Int = 256 << 20
    ) {
        self.maximumPixels = maximumPixels
        self.maximumSide = maximumSide
        self.maximumScans = maximumScans
        self.maximumFileBytes = maximumFileBytes
    }

    /// The limits used where none are given.
    public static let `default` = ImageLimits()

    package func check(width: Int, height: Int, file: String) throws(ImageError) {
        let size = "it has \(width) × \(height) pixels"
        let remedy = "scale the image down"
        guard max(width, height) <= maximumSide else {
            throw ImageError(
                .limit, file, "\(size), more than \(maximumSide) a side", remedy: remedy)
        }
        guard width <= maximumPixels / max(height, 1) else {
            throw ImageError(
                .limit, file, "\(size), more than \(maximumPixels) in all", remedy: remedy)
        }
    }
}
