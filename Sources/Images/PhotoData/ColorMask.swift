public import RetintFiles
public import RetintImages

/// Where a photo gets new colors, and how much of them: 1 for new colors, 0 for the photo's own,
/// and values in between for a mixture.
///
///     let mask = try ColorMask(contentsOf: "sky.png").feathered(4)
///     let colored = try colorizer.colorize(photo, in: ColoredRegion(mask: mask))
public struct ColorMask: Hashable, Sendable {
    /// The width in pixels, that of the photo.
    public let width: Int
    /// The height in pixels, that of the photo.
    public let height: Int
    /// One value in 0…1 per pixel, row by row from the top.
    public let values: [Float]

    /// A mask with these values. Values outside 0…1 are clamped; NaN becomes 0.
    ///
    /// - Precondition: The sides are positive and `values` has `width * height` values.
    public init(width: Int, height: Int, values: [Float]) {
        self.init(width, height, values.map { $0 >= 0 ? min($0, 1) : 0 })
    }

    /// - Parameter values: in 0…1.
    init(_ width: Int, _ height: Int, _ values: [Float]) {
        precondition(
            width > 0 && height > 0 && values.count == width * height,
            "\(values.count) values do not fill a mask of \(width) × \(height)")
        (self.width, self.height, self.values) = (width, height, values)
    }

    /// The gray values of an image: white is 1, black is 0. Colors count as their luma.
    public init(_ image: Image) { self.init(LevelImage(lumaOf: image)) }

    /// Reads a mask: white is 1, black is 0. A grayscale PNG keeps its full precision of up to 16
    /// bits; colors count as their luma. Color profiles and transparency are ignored; an EXIF
    /// orientation is applied, as for photos.
    ///
    /// - Throws: `ImageError` if the file cannot be read, exceeds a limit or is damaged.
    public init(
        contentsOf path: some PathConvertible, limits: ImageLimits = .default
    ) throws(ImageError) {
        self.init(try LevelImage.gray(contentsOf: path, limits: limits))
    }

    private init(_ image: LevelImage) {
        let values = (0...Int(image.highest)).map { Float($0) / Float(image.highest) }
        self.init(image.width, image.height, image.levels.map { values[Int($0)] })
    }

    /// Reads a mask of instances, as written by segmentation: each pixel has the index of the
    /// object that it belongs to, and 0 is the background. The mask is 1 on the chosen instances.
    ///
    /// - Parameters:
    ///   - path: a PNG, grayscale with up to 16 bits or with a palette. The levels themselves are
    ///     the indices.
    ///   - instances: the chosen indices, at least 1.
    /// - Throws: `ImageError` if the file cannot be read or is not such a PNG; ``PhotoError`` if it
    ///   lacks one of the instances.
    public init(
        contentsOf path: some PathConvertible, instances: some Collection<Int>,
        limits: ImageLimits = .default
    ) throws {
        let (mask, present) = try Self.chosen(instances, in: path, limits: limits)
        if let missing = instances.first(where: { !present.contains($0) }) {
            throw PhotoError(
                .mask,
                file: path.filePath.string, "has no instance \(missing); \(Self.list(present))")
        }
        self = mask
    }

    /// Reads a mask of instances, some of which may be missing.
    ///
    /// - Returns: the mask, and the indices of all instances that it has.
    /// - Throws: `ImageError` if the file cannot be read or is not such a PNG.
    package static func chosen(
        _ instances: some Sequence<Int>, in path: some PathConvertible,
        limits: ImageLimits = .default
    ) throws(ImageError) -> (mask: ColorMask, present: Set<Int>) {
        let image = try LevelImage(contentsOf: path, limits: limits)
        var isPresent = [Bool](repeating: false, count: 1 << 16)
        for level in image.levels { isPresent[Int(level)] = true }
        let present = isPresent.indices.dropFirst().filter { isPresent[$0] }
        var values = [Float](repeating: 0, count: isPresent.count)
        for instance in instances where values.indices.dropFirst().contains(instance) {
            values[instance] = 1
        }
        let mask = ColorMask(image.width, image.height, image.levels.map { values[Int($0)] })
        return (mask, Set(present))
    }

    /// The existing instances, for errors.
    private static func list(_ present: Set<Int>) -> String {
        let shown = 20
        guard let last = present.max() else { return "all of its pixels are background (0)" }
        let names = present.sorted().prefix(shown).map(String.init).joined(separator: ", ")
        let rest = present.count - shown
        return "it has \(names)" + (rest > 0 ? " and \(rest) more, up to \(last)" : "")
    }

    /// The mask with soft edges: blurred by a Gaussian, approximated by three box filters as in
    /// Pillow (Gwosdek et al., 2011). Beyond the edges of the mask, its outermost values repeat.
    ///
    /// - Parameter deviation: the standard deviation in pixels; 0 changes nothing.
    /// - Precondition: `deviation` is finite and not negative.
    public func feathered(_ deviation: Float) -> ColorMask {
        precondition(deviation.isFinite && deviation >= 0, "a deviation of \(deviation)")
        guard deviation > 0 else { return self }
        let filter = BoxFilter(deviation: Double(deviation), passes: 3)
        var result = values
        for _ in 0..<filter.passes {
            filter.blurRows(of: &result, width: width, height: height)
            filter.blurColumns(of: &result, width: width, height: height)
        }
        return ColorMask(width: width, height: height, values: result)
    }

    /// Checks that the mask has a photo's size.
    ///
    /// - Parameters:
    ///   - photo: the photo's name in the error.
    ///   - mask: the mask's name in the error.
    /// - Throws: ``PhotoError`` with both sizes.
    package func check(
        width: Int, height: Int, photo: String = "the photo", mask: String = "the mask"
    ) throws(PhotoError) {
        guard self.width == width, self.height == height else {
            throw PhotoError(
                .mask,
                file: "\(mask)",
                "has \(self.width) × \(self.height) pixels and \(photo) has "
                    + "\(width) × \(height); a mask must have the same size, upright")
        }
    }
}
