/// The class-rebalanced share of pixels within ab errors of 0…150: every color has the same weight,
/// however rare.
///
/// A pixel's true color assigns it to a cell of a grid in the ab plane. The area under the curve is
/// computed per cell and averaged over the cells that occur (Zhang et al. 2016, section
/// 3.1: pixels weighted by the inverse of their class's probability, with λ = 0).
package struct BalancedABErrors: Hashable, Sendable, Codable {
    /// The side of a cell in units of a and b.
    package static let cellSize: Float = 10

    fileprivate struct Cell: Hashable, Codable {
        var pixels = 0
        /// The sum over its pixels of the area under the curve of each single pixel.
        var area = 0.0
    }

    private var cells: [Int: Cell] = [:]

    /// A measure of no pixels.
    package init() {}

    /// Adds the pixels of an image.
    ///
    /// - Throws: `ColorScienceError` when the counts differ or are zero.
    package mutating func add(reference: LabPlanes, estimate: LabPlanes) throws {
        try ColorScienceError.requireSameCount("ab error", reference.count, estimate.count)
        // All cells, because a dictionary is much slower for each pixel.
        var all = [Cell](repeating: Cell(), count: Self.side * Self.side)
        for index in 0..<reference.count {
            let (a, b) = (reference.a[index], reference.b[index])
            let (da, db) = (a - estimate.a[index], b - estimate.b[index])
            all[Self.cell(a, b)].add((da * da + db * db).squareRoot())
        }
        for (index, cell) in all.enumerated() where cell.pixels > 0 {
            cells[index, default: Cell()].add(cell)
        }
    }

    /// The number of cells in each direction.
    private static let side = 64

    /// The cell with the nearest center; centers are multiples of 10 in both directions.
    private static func cell(_ a: Float, _ b: Float) -> Int {
        func index(_ value: Float) -> Int {
            let middle = side / 2
            return Int(min(max((value / cellSize).rounded(), Float(-middle)), Float(middle - 1)))
                + middle
        }
        return side * index(a) + index(b)
    }

    /// Adds the pixels of another measure.
    package mutating func add(_ other: BalancedABErrors) {
        for (index, cell) in other.cells { cells[index, default: Cell()].add(cell) }
    }

    /// The mean over the cells of the area under the curve: 1 when every pixel is right, NaN before
    /// any pixel.
    package var areaUnderCurve: Double {
        // Sorted, so that the rounding of the sum does not depend on the order of the dictionary.
        let areas = cells.sorted { $0.key < $1.key }.map { $0.value.area / Double($0.value.pixels) }
        return areas.reduce(0, +) / Double(areas.count)
    }
}

extension BalancedABErrors.Cell {
    fileprivate mutating func add(_ other: Self) {
        pixels += other.pixels
        area += other.area
    }

    /// Thresholds as in ``ABErrors``.
    fileprivate mutating func add(_ error: Float) {
        pixels += 1
        let last = ABErrors.largestThreshold
        guard error <= Float(last) else { return }
        let first = Int(error.rounded(.up))
        let ends = first == 0 ? 1 : 0.5
        area += (Double(last - first + 1) - ends) / Double(last)
    }
}
