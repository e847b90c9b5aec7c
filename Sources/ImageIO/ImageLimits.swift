/// What a picture may cost. Files come from outside: a few kilobytes can claim to hold gigabytes,
/// or keep a decoder busy for minutes.
public struct ImageLimits: Hashable, Sendable {
    /// Width times height.
    public var maximumPixels: Int
    /// Width and height, each.
    public var maximumSide: Int
    /// The passes over the picture that a progressive JPEG may ask for.
    public var maximumScans: Int
    /// The size of the file.
    public var maximumFileBytes: Int

    /// 64 megapixels, 16,384 pixels a side, 100 scans and 256 MiB, where nothing else is said.
    public init(
        maximumPixels: Int = 64_000_000, maximumSide: Int = 16_384, maximumScans: Int = 100,
        maximumFileBytes: Int = 256 << 20
    ) {
        self.maximumPixels = maximumPixels
        self.maximumSide = maximumSide
        self.maximumScans = maximumScans
        self.maximumFileBytes = maximumFileBytes
    }

    public static let `default` = ImageLimits()

    package func check(width: Int, height: Int, file: String) throws(ImageError) {
        let size = "it has \(width) × \(height) pixels"
        let remedy = "scale the picture down or raise the limit"
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
