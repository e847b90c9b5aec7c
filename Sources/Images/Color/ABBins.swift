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
    static let side = 2 * extent / spacing + 1

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
        var coder = SoftCoder(self, count: count, sigma: sigma)
        coder.encode(a: a, b: b)
        return SoftCode(bins: coder.bins, weights: coder.weights)
    }
}

/// Encodes one color after another as ``ABBins/SoftCode``, in memory that it uses again.
package struct SoftCoder {
    private let points: ABBins
    private let sigma: Float
    /// The least reach within which there may be enough bins.
    private let firstReach: Int
    /// The nearest bins of the last color, the nearest first.
    package private(set) var bins: [Int]
    /// The weight of each; they sum to 1.
    package private(set) var weights: [Float]
    /// The squared distance of each.
    private var distances: [Float]

    /// - Parameter count: of bins for each color; all bins if there are fewer.
    package init(_ points: ABBins, count: Int, sigma: Float) {
        (self.points, self.sigma) = (points, sigma)
        let count = max(min(count, points.count), 0)
        bins = [Int](repeating: 0, count: count)
        weights = [Float](repeating: 0, count: count)
        distances = weights
        firstReach = Int((Float(count) / .pi).squareRoot() + 1.5)
    }

    /// Finds the nearest bins of a color; of those at the same distance, the first ones.
    package mutating func encode(a: Float, b: Float) {
        var reach = firstReach
        while !search(a, b, reach: reach), reach <= 2 * ABBins.side { reach += max(reach / 2, 1) }
        var sum: Float = 0
        for index in bins.indices {
            weights[index] = exp(-distances[index] / (2 * sigma * sigma))
            sum += weights[index]
        }
        for index in bins.indices { weights[index] /= sum }
    }

    /// Searches rows and columns of the grid up to `reach` from the color's own.
    ///
    /// - Returns: whether no bin outside could be nearer. Every bin within `reach - ½` spacings was
    ///   seen.
    private mutating func search(_ a: Float, _ b: Float, reach: Int) -> Bool {
        let (rows, columns) = (Self.range(a, reach), Self.range(b, reach))
        var found = 0
        for row in rows {
            for column in columns {
                let bin = points.binAtPoint[row * ABBins.side + column]
                guard bin >= 0 else { continue }
                let (da, db) = (points.centers[bin].a - a, points.centers[bin].b - b)
                insert(bin, da * da + db * db, into: &found)
            }
        }
        let safe = (Float(reach) - 0.5) * Float(ABBins.spacing)
        return found == bins.count && (distances.last ?? 0) <= safe * safe
    }

    /// Keeps a bin among the nearest ones. Bins come in their order, so that one at the same
    /// distance as another follows it.
    private mutating func insert(_ bin: Int, _ distance: Float, into found: inout Int) {
        if found < bins.count { found += 1 } else if distance >= distances[found - 1] { return }
        var place = found - 1
        while place > 0, distances[place - 1] > distance {
            (distances[place], bins[place]) = (distances[place - 1], bins[place - 1])
            place -= 1
        }
        (distances[place], bins[place]) = (distance, bin)
    }

    private static func range(_ value: Float, _ reach: Int) -> ClosedRange<Int> {
        let index = (value + Float(ABBins.extent)) / Float(ABBins.spacing)
        let middle = Int(min(max(index.rounded(), 0), Float(ABBins.side - 1)))
        return max(middle - reach, 0)...min(middle + reach, ABBins.side - 1)
    }
}
