import Glibc

/// The tone of skin by its individual typology angle, ITA = arctan((L − 50) / b) (Chardon and
/// others, "Skin colour typology and suntanning pathways", 1991).
package enum SkinTone: Int, CaseIterable, Sendable, Codable {
    case veryLight, light, intermediate, tan, brown, dark

    /// The angle in degrees above which a tone is the one of the same index; `dark` is the rest.
    private static let bounds = [55.0, 41, 28, 10, -30]

    /// The tone of a color in CIELAB.
    package init(lightness: Double, b: Double) {
        let angle = atan2(lightness - 50, b) * 180 / .pi
        let index = Self.bounds.firstIndex { angle > $0 } ?? Self.bounds.count
        self = Self.allCases[index]
    }
}

/// A rectangle of an image, in pixels.
package struct PixelRegion: Hashable, Sendable {
    let rows, columns: Range<Int>

    package init(rows: Range<Int>, columns: Range<Int>) {
        (self.rows, self.columns) = (rows, columns)
    }
}

/// The color errors of skin by its tone, over any number of images.
///
/// Pixels are skin if their chroma is that of skin (Chai and Ngan, "Face segmentation using
/// skin-color map in videophone applications", 1999): wood, brick and some food are taken for it,
/// too. The tone is that of the mean color of the skin in a region, because single pixels of a
/// shaded face would count as darker skin. Regions are given, such as boxes around faces, or else
/// 8 × 8 fields of the image. Those of which less than a quarter is skin are omitted, and pixels in
/// two regions count twice.
package struct SkinErrors: Hashable, Sendable, Codable {
    /// The values of Cb and Cr of skin, of 8 bits as in BT.601.
    private static let blue = 77.0...127, red = 133.0...173
    private static let fields = 8
    private static let leastShare = 0.25

    private var sums = [Double](repeating: 0, count: SkinTone.allCases.count)
    private var counts = [Int](repeating: 0, count: SkinTone.allCases.count)

    /// Errors of no pixels.
    package init() {}

    /// Whether a color of 8 bits has the chroma of skin.
    static func isSkin(red: UInt8, green: UInt8, blue: UInt8) -> Bool {
        let (r, g, b) = (Double(red), Double(green), Double(blue))
        let cb = 128 + (-37.797 * r - 74.203 * g + 112 * b) / 255
        let cr = 128 + (112 * r - 93.786 * g - 18.214 * b) / 255
        return Self.blue.contains(cb) && Self.red.contains(cr)
    }

    /// Adds the skin of an image.
    ///
    /// - Parameters:
    ///   - original: the original's interleaved 8-bit RGB.
    ///   - reference: the same in CIELAB.
    ///   - estimate: the colored image.
    ///   - regions: where to look; nil for the fields of the whole image.
    /// - Throws: `ColorScienceError` if the images differ in size or are empty.
    package mutating func add(
        original: [UInt8], reference: LabPlanes, estimate: LabPlanes, width: Int,
        in regions: [PixelRegion]? = nil
    ) throws {
        try ColorScienceError.requireSameCount("skin", reference.count, estimate.count)
        try ColorScienceError.requireSameCount("skin", 3 * reference.count, original.count)
        let height = reference.count / width
        for region in regions ?? Self.fields(width: width, height: height) {
            let rows = region.rows.clamped(to: 0..<height)
            let columns = region.columns.clamped(to: 0..<width)
            let pixels = rows.flatMap { y in columns.map { y * width + $0 } }
            let skin = pixels.filter {
                Self.isSkin(
                    red: original[3 * $0], green: original[3 * $0 + 1], blue: original[3 * $0 + 2])
            }
            guard !skin.isEmpty, Double(skin.count) >= Self.leastShare * Double(pixels.count)
            else { continue }
            try add(reference.selecting(skin), estimate.selecting(skin))
        }
    }

    private static func fields(width: Int, height: Int) -> [PixelRegion] {
        (0..<fields * fields).map { field in
            let (row, column) = field.quotientAndRemainder(dividingBy: fields)
            return PixelRegion(
                rows: row * height / fields..<(row + 1) * height / fields,
                columns: column * width / fields..<(column + 1) * width / fields)
        }
    }

    private mutating func add(_ reference: LabPlanes, _ estimate: LabPlanes) throws {
        let count = Double(reference.count)
        let tone = SkinTone(
            lightness: reference.l.reduce(0) { $0 + Double($1) } / count,
            b: reference.b.reduce(0) { $0 + Double($1) } / count)
        let errors = try RetintColor.deltaE2000(reference, estimate)
        sums[tone.rawValue] += errors.reduce(0) { $0 + Double($1) }
        counts[tone.rawValue] += errors.count
    }

    /// Adds the skin of other images.
    package mutating func add(_ other: SkinErrors) {
        for tone in sums.indices {
            sums[tone] += other.sums[tone]
            counts[tone] += other.counts[tone]
        }
    }

    /// The mean ΔE2000 of skin of a tone; nil if there is none.
    package func deltaE2000(of tone: SkinTone) -> Double? {
        let count = counts[tone.rawValue]
        return count > 0 ? sums[tone.rawValue] / Double(count) : nil
    }
}

extension LabPlanes {
    fileprivate func selecting(_ pixels: [Int]) -> LabPlanes {
        LabPlanes(l: pixels.map { l[$0] }, a: pixels.map { a[$0] }, b: pixels.map { b[$0] })
    }
}
