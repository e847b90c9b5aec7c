import RetintImages
import RetintPhotoData
import RetintRuntime

/// Which part of a photo gets new colors, and how much of them.
///
/// In any case, the photo keeps its lightness. A mask and a quadrilateral may be combined: the mask
/// then applies to the picture in the quadrilateral.
public struct ColoredRegion: Sendable {
    /// Where the photo gets new colors; nil for the whole photo. Elsewhere it keeps its own colors.
    public var mask: ColorMask?
    /// A picture that the photo shows in perspective: it is rectified, colored by itself, and
    /// only its colors go back. Nil for the photo itself.
    public var quadrilateral: Quadrilateral?
    /// The share of the new colors, 0…1; the rest is the photo's own. Other values are clamped.
    public var blend: Float

    /// The whole photo, unless something else is given.
    public init(
        mask: ColorMask? = nil, quadrilateral: Quadrilateral? = nil, blend: Float = 1
    ) {
        (self.mask, self.quadrilateral, self.blend) = (mask, quadrilateral, blend)
    }

    /// Whether all colors of a photo are new.
    var isWhole: Bool { mask == nil && quadrilateral == nil && blend >= 1 }

    /// Colors the region of a photo.
    ///
    /// - Parameter colorize: colors a whole photo.
    /// - Throws: `PhotoError` if the mask or the quadrilateral does not fit the photo; the errors
    ///   of `colorize`.
    func colored(_ photo: Image, by colorize: (Image) throws -> Image) throws -> Image {
        if isWhole { return try colorize(photo) }
        try mask?.check(width: photo.width, height: photo.height)
        let share = blend > 0 ? min(blend, 1) : 0
        guard let quadrilateral else {
            if share == 0 { return photo }
            return photo.mixed(with: try colorize(photo), mask: mask, blend: share)
        }
        let picture = try photo.straightened(quadrilateral)
        if share == 0 { return photo }
        return photo.mixed(
            with: try colorize(picture), on: quadrilateral, mask: mask, blend: share)
    }
}

extension Colorizer {
    /// Colors a region of a photo; the rest keeps its own colors.
    ///
    /// - Parameters:
    ///   - photo: an image of any size.
    ///   - saturation: a factor for a and b, 1 for the colors as they are estimated.
    ///   - region: the part to color.
    /// - Throws: `PhotoError` if the mask has another size than the photo, or the quadrilateral
    ///   reaches beyond it; `ModelError` if the network returns colors that are not finite.
    public func colorize(
        _ photo: Image, saturation: Float = 1, in region: ColoredRegion
    ) throws -> Image {
        try region.colored(photo) { try colorize($0, saturation: saturation) }
    }

    /// Colors a region of a photo concurrently with others, up to ``workerCount`` at a time.
    ///
    /// - Throws: as the function without `await`; `CancellationError` if the task is cancelled.
    public func colorize(
        _ photo: Image, saturation: Float = 1, in region: ColoredRegion
    ) async throws -> Image {
        try await workers.run { [self] in try colored(photo, saturation, in: region, $1) }
    }

    /// Colors a region of a photo on the calling thread, one of ``workers``.
    func colored(
        _ photo: Image, _ saturation: Float, in region: ColoredRegion,
        _ cancellation: CancellationFlag = CancellationFlag()
    ) throws -> Image {
        try region.colored(photo) { try colored($0, saturation, cancellation) }
    }
}
