import RetintImages

/// How a square crop is made of packed pixels, as numbers that a program is given: which pixels of
/// a photo it is the weighted sum of, whether it is mirrored, and what its levels become.
///
/// It has the same bytes as the crop that ``Augmentation`` makes of an image.
struct CropWindow: Hashable, Sendable {
    private(set) var numbers: [Float]

    /// Where its numbers are.
    enum Place {
        /// Of the photo's first pixel: this · 2²² + the next.
        static let start = 0
        /// The pixels of a row of the photo.
        static let rowLength = 2
        /// 1: rows are resized before columns.
        static let rowsFirst = 3
        /// 1: mirrored.
        static let isMirrored = 4
        /// The levels of red, green and blue, 3 × 256.
        static let levels = 5
        /// The first column and the weights of the following ones, for each column of the crop;
        /// then the same for rows.
        static let taps = levels + 3 * 256
    }

    /// The bits of a position's lower part: numbers below 2²⁴ are exact.
    static let positionBits = 22
    /// The most pixels of a row or a column that a pixel is the sum of: photos that are resized to
    /// a third need 7.
    static let mostTaps = 8
    /// The numbers of a column or row.
    static let tapLength = 1 + mostTaps

    /// Levels of red, green and blue that stay as they are.
    static let unchangedLevels: [UInt8] = (0..<3).flatMap { _ in 0...255 }

    /// How many numbers describe a crop.
    static func length(side: Int) -> Int { Place.taps + 2 * side * tapLength }

    /// A crop of a photo that begins at pixel 0.
    ///
    /// - Parameters:
    ///   - rowLength: the pixels of a row of the photo.
    ///   - columns: of the photo, for each column of the crop.
    ///   - rows: of the photo, for each row of the crop.
    ///   - levels: what each level of red, green and blue becomes, 3 × 256.
    /// - Returns: nil if a pixel is the sum of too many.
    init?(
        rowLength: Int, columns: ByteTaps, rows: ByteTaps, rowsFirst: Bool, isMirrored: Bool,
        levels: [UInt8]
    ) {
        numbers = [0, 0, Float(rowLength), rowsFirst ? 1 : 0, isMirrored ? 1 : 0]
        numbers.reserveCapacity(Self.length(side: columns.windows.count))
        numbers += levels.lazy.map(Float.init)
        for (start, weights) in columns.windows + rows.windows {
            guard weights.count <= Self.mostTaps else { return nil }
            numbers.append(Float(start))
            numbers += weights.lazy.map(Float.init)
            numbers += repeatElement(0, count: Self.mostTaps - weights.count)
        }
    }

    /// A square image that begins at pixel 0.
    static func whole(side: Int) -> CropWindow {
        let taps = ByteTaps(from: side, to: side, filter: .bilinear)
        let window = CropWindow(
            rowLength: side, columns: taps, rows: taps, rowsFirst: false, isMirrored: false,
            levels: unchangedLevels)
        guard let window else {
            preconditionFailure("an image that keeps its size has two taps for each pixel")
        }
        return window
    }

    /// The same crop of a photo whose first pixel is elsewhere.
    func moved(to start: Int) -> CropWindow {
        var result = self
        result.numbers[Place.start] = Float(start >> Self.positionBits)
        result.numbers[Place.start + 1] = Float(start & (1 << Self.positionBits - 1))
        return result
    }
}
