import Glibc

/// Points in the ab plane, 10 apart: the classes of a colorizer that classifies.
public struct ABBins: Hashable, Sendable {
    /// The distance between neighboring bins.
    public static let spacing = 10
    /// The largest |a| and |b| of the grid.
    static let extent = 110

    /// a and b of each bin, ordered by a, then b.
    public let centers: [(a: Float, b: Float)]
    /// The bin at each point of the grid, ordered by a, then b; −1 where there is none.
    let binAtPoint: [Int]
    private static let side = 2 * extent / spacing + 1

    /// The 313 bins of "Colorful Image Colorization" (`pts_in_hull.npy`): the corners of all 10×10
    /// cells that the convex hull of sRGB's gamut touches.
    public static let inGamut = ABBins { a in
        let hull = GamutHull.sRGB.clipped(around: a)
        return { hull.touches(cellsAround: $0) }
    }

    /// The 529 bins of "Real-Time User-Guided Image Colorization": the whole grid.
    public static let grid = ABBins { _ in { _ in true } }

    /// - Parameter row: for an a, whether there is a bin at each b.
    private init(_ row: (Double) -> (Double) -> Bool) {
        var (centers, binAtPoint) = ([(a: Float, b: Float)](), [Int]())
        for index in 0..<Self.side {
            let a = Double(index * Self.spacing - Self.extent)
            let contains = row(a)
            for column in 0..<Self.side {
                let b = Double(column * Self.spacing - Self.extent)
                let isBin = contains(b)
                binAtPoint.append(isBin ? centers.count : -1)
                if isBin { centers.append((Float(a), Float(b))) }
            }
        }
        (self.centers, self.binAtPoint) = (centers, binAtPoint)
    }

    /// The number of bins.
    public var count: Int { centers.count }

    /// Whether both have the same bins.
    public static func == (one: ABBins, other: ABBins) -> Bool {
        one.binAtPoint == other.binAtPoint
    }

    /// Hashes the bins.
    public func hash(into hasher: inout Hasher) { hasher.combine(binAtPoint) }
}

extension ABBins {
    /// A color as a distribution over its nearest bins, with Gaussian weights.
    public struct SoftCode: Hashable, Sendable {
        /// Indices into ``ABBins/centers``, the nearest first.
        public let bins: [Int]
        /// The weight of each bin; they sum to 1.
        public let weights: [Float]
    }

    /// The `count` nearest bins, weighted by exp(−d²/2σ²) of their distances d (Zhang et al. 2016,
    /// section 2.2).
    public func softCode(a: Float, b: Float, count: Int = 10, sigma: Float = 5) -> SoftCode {
        let near = nearest(a: a, b: b, count: count)
        let weights = near.map { exp(-$0.distance / (2 * sigma * sigma)) }
        let sum = weights.reduce(0, +)
        return SoftCode(bins: near.map(\.bin), weights: weights.map { $0 / sum })
    }

    /// The nearest bins with their squared distances, nearest first.
    private func nearest(a: Float, b: Float, count: Int) -> [(bin: Int, distance: Float)] {
        var found: [(bin: Int, distance: Float)] = []
        // A search of `reach` rows and columns finds every bin within `reach - ½` spacings.
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
            let index = (value + Float(Self.extent)) / Float(Self.spacing)
            return Int(min(max(index.rounded(), 0), Float(Self.side - 1)))
        }
        func range(_ middle: Int) -> ClosedRange<Int> {
            max(middle - reach, 0)...min(middle + reach, Self.side - 1)
        }
        var found: [(bin: Int, distance: Float)] = []
        for row in range(middle(a)) {
            for column in range(middle(b)) {
                let bin = binAtPoint[row * Self.side + column]
                guard bin >= 0 else { continue }
                let (da, db) = (centers[bin].a - a, centers[bin].b - b)
                found.append((bin, da * da + db * db))
            }
        }
        return found
    }
}
