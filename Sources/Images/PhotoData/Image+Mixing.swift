import RetintColor
import RetintImages

extension Image {
    /// The image mixed with the colors of a colored copy. The lightness stays, because a and b
    /// of Lab are mixed; a pixel with share 0 keeps its bytes, a pixel with share 1 has those
    /// of the copy.
    ///
    /// - Parameters:
    ///   - colored: the copy, with the same size and lightness.
    ///   - mask: the share of each pixel; nil for 1.
    ///   - blend: a factor for all shares, 0…1.
    /// - Precondition: The copy and the mask have the image's size.
    package func mixed(with colored: consuming Image, mask: ColorMask?, blend: Float) -> Image {
        precondition(
            (colored.width, colored.height) == (width, height)
                && (mask.map { ($0.width, $0.height) == (width, height) } ?? true),
            "images and masks of several sizes")
        // The copy becomes the result, because a third image would take as much memory.
        var result = colored
        var row = PixelsToMix()
        for start in stride(from: 0, to: width * height, by: width) {
            row.removeAll()
            for pixel in start..<start + width {
                let share = (mask?.values[pixel] ?? 1) * blend
                if share > 0, share < 1 { row.add(pixel, share) }
            }
            let colors = lab(fromRGB: row.gather(result.pixels))
            for pixel in start..<start + width where !((mask?.values[pixel] ?? 1) * blend >= 1) {
                for byte in 3 * pixel..<3 * pixel + 3 { result.pixels[byte] = pixels[byte] }
            }
            row.mix(a: colors.a, b: colors.b, into: &result.pixels)
        }
        return result
    }

    /// The image with the colors of a rectified and colored part of it, mapped back into
    /// perspective. The lightness stays.
    ///
    /// Where the border crosses a pixel, the pixel's covered area is its share.
    ///
    /// - Parameters:
    ///   - picture: the colored result of ``straightened(_:)``.
    ///   - quadrilateral: where the picture is, within the image.
    ///   - mask: a factor for the share of each pixel; nil for 1.
    ///   - blend: a factor for all shares, 0…1.
    /// - Precondition: The mask has the image's size.
    package func mixed(
        with picture: Image, on quadrilateral: Quadrilateral, mask: ColorMask?, blend: Float
    ) -> Image {
        let coverage = Coverage(quadrilateral)
        let bounds = coverage.bounds(width: width, height: height)
        var sampler = PictureColors(picture, quadrilateral)
        var result = self
        var row = PixelsToMix()
        for y in bounds.rows {
            row.removeAll()
            sampler.removeAll()
            for x in bounds.columns {
                guard let part = coverage.part(x: x, y: y) else { continue }
                let pixel = y * width + x
                let share = Float(part.area) * (mask?.values[pixel] ?? 1) * blend
                guard share > 0 else { continue }
                row.add(pixel, share)
                sampler.add(part.center)
            }
            let (a, b) = sampler.colors
            row.mix(a: a, b: b, into: &result.pixels)
        }
        return result
    }
}

/// The colors of a picture at the pixels of the photo that show it. Only those of a row are
/// converted at a time: the planes of a whole picture would take four times its memory.
private struct PictureColors {
    private let picture: Image
    private let map: Homography
    private var cells: [Cell] = []
    /// The bytes of the four pixels of each cell.
    private var bytes: [UInt8] = []

    init(_ picture: Image, _ quadrilateral: Quadrilateral) {
        self.picture = picture
        map =
            Homography(
                fromWidth: Double(picture.width), height: Double(picture.height),
                to: quadrilateral
            ).inverse
    }

    mutating func removeAll() {
        cells.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func add(_ point: SIMD2<Double>) {
        let cell = Cell(map(point), width: picture.width, height: picture.height)
        cells.append(cell)
        for index in cell.pixels { bytes += picture.pixels[3 * index..<3 * index + 3] }
    }

    /// a and b at the points that were added.
    var colors: (a: [Float], b: [Float]) {
        let planes = lab(fromRGB: bytes)
        func values(_ plane: [Float]) -> [Float] {
            cells.indices.map { cells[$0].value(of: plane[4 * $0..<4 * $0 + 4]) }
        }
        return (values(planes.a), values(planes.b))
    }
}

/// Pixels whose colors are mixed with others.
private struct PixelsToMix {
    private var pixels: [Int] = []
    private var shares: [Float] = []

    mutating func removeAll() {
        pixels.removeAll(keepingCapacity: true)
        shares.removeAll(keepingCapacity: true)
    }

    mutating func add(_ pixel: Int, _ share: Float) {
        pixels.append(pixel)
        shares.append(share)
    }

    /// The pixels' bytes.
    func gather(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(3 * pixels.count)
        for pixel in pixels { result += bytes[3 * pixel..<3 * pixel + 3] }
        return result
    }

    /// Mixes each pixel's share of a and b with its own color.
    func mix(a: [Float], b: [Float], into bytes: inout [UInt8]) {
        guard !pixels.isEmpty else { return }
        var own = gather(bytes)
        let colors = lab(fromRGB: own)
        func mixed(_ old: [Float], _ new: [Float]) -> [Float] {
            shares.indices.map { old[$0] + (new[$0] - old[$0]) * shares[$0] }
        }
        let (mixedA, mixedB) = (mixed(colors.a, a), mixed(colors.b, b))
        own.withUnsafeMutableBufferPointer {
            Recoloring.recolor($0.baseAddress!, a: mixedA, b: mixedB, count: pixels.count)
        }
        for (index, pixel) in pixels.enumerated() {
            bytes.replaceSubrange(3 * pixel..<3 * pixel + 3, with: own[3 * index..<3 * index + 3])
        }
    }
}
