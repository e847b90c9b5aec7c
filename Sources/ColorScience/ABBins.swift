import Glibc

/// Places in the ab plane, 10 apart, that a classifying colorizer chooses among.
public struct ABBins: Hashable, Sendable {
    /// The distance of neighbors.
    public static let spacing = 10
    /// Largest |a| and |b| of the grid.
    static let extent = 110

    /// a and b of each bin, ordered by a, then b.
    public let centers: [(a: Float, b: Float)]
    /// The bin at each place of the grid, row by row of a; −1 where there is none.
    let places: [Int]
    private static let side = 2 * extent / spacing + 1

    /// The 313 bins of "Colorful Image Colorization" (`pts_in_hull.npy`): the corners of all 10×10
    /// cells that the convex hull of sRGB's gamut touches.
    public static let inGamut = ABBins { GamutHull.sRGB.touches(cellsAround: $0, $1) }

    /// The 529 bins of "Real-Time User-Guided Image Colorization": the whole grid.
    public static let grid = ABBins { _, _ in true }

    private init(_ isBin: (Double, Double) -> Bool) {
        var (centers, places) = ([(a: Float, b: Float)](), [Int]())
        for row in 0..<Self.side {
            for column in 0..<Self.side {
                let a = Double(row * Self.spacing - Self.extent)
                let b = Double(column * Self.spacing - Self.extent)
                let has = isBin(a, b)
                places.append(has ? centers.count : -1)
                if has { centers.append((Float(a), Float(b))) }
            }
        }
        (self.centers, self.places) = (centers, places)
    }

    public var count: Int { centers.count }

    public static func == (one: ABBins, other: ABBins) -> Bool { one.places == other.places }
    public func hash(into hasher: inout Hasher) { hasher.combine(places) }
}

/// The bins near a color.
extension ABBins {
    /// A color as a distribution: weights of the nearest bins by a Gaussian of the distance.
    public struct SoftCode: Hashable, Sendable {
        /// Nearest first.
        public let bins: [Int]
        /// They sum to 1.
        public let weights: [Float]
    }

    /// The `count` nearest bins, weighted by exp(−d²/2σ²).
    public func softCode(a: Float, b: Float, count: Int = 10, sigma: Float = 5) -> SoftCode {
        let near = nearest(a: a, b: b, count: count)
        let weights = near.map { exp(-$0.distance / (2 * sigma * sigma)) }
        let sum = weights.reduce(0, +)
        return SoftCode(bins: near.map(\.bin), weights: weights.map { $0 / sum })
    }

    /// The nearest bin; the first one of several at the same distance.
    public func nearestBin(a: Float, b: Float) -> Int { nearest(a: a, b: b, count: 1)[0].bin }

    /// Bins by their squared distance, nearest first.
    private func nearest(a: Float, b: Float, count: Int) -> [(bin: Int, distance: Float)] {
        var found: [(bin: Int, distance: Float)] = []
        // What lies within `reach` rows and columns is complete up to `reach - ½` spacings.
        var reach = 2
        while true {
            found = candidates(a, b, reach: reach)
            found.sort { ($0.distance, $0.bin) < ($1.distance, $1.bin) }
            let safe = (Float(reach) - 0.5) * Float(Self.spacing)
            let isComplete = found.count >= count && found[count - 1].distance <= safe * safe
            if isComplete || reach > 2 * Self.side { return Array(found.prefix(count)) }
            reach *= 2
        }
    }

    private func candidates(_ a: Float, _ b: Float, reach: Int) -> [(bin: Int, distance: Float)] {
        func middle(_ value: Float) -> Int {
            let place = (value + Float(Self.extent)) / Float(Self.spacing)
            return Int(min(max(place.rounded(), 0), Float(Self.side - 1)))
        }
        func range(_ middle: Int) -> ClosedRange<Int> {
            max(middle - reach, 0)...min(middle + reach, Self.side - 1)
        }
        var found: [(bin: Int, distance: Float)] = []
        for row in range(middle(a)) {
            for column in range(middle(b)) {
                let bin = places[row * Self.side + column]
                guard bin >= 0 else { continue }
                let (da, db) = (centers[bin].a - a, centers[bin].b - b)
                found.append((bin, da * da + db * db))
            }
        }
        return found
    }
}
