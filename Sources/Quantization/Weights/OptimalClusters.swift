/// Numbers that are to be replaced by a few, with the least sum of squared errors.
///
/// On a line the best clusters are runs of the sorted numbers, and the best end of a run never moves
/// back as more numbers are added; so the best of all is found by dynamic programming, each row of
/// which is solved by halves (Wu, "Optimal Quantization by Matrix Searching", 1991; Grønlund et al.,
/// "Fast Exact k-Means, k-Medians and Bregman Divergence Clustering in 1D", 2017).
struct OptimalClusters {
    /// Sums over the first i different numbers; many are gathered in bins first.
    private let sums: [Sums]
    private var pointCount: Int { sums.count - 1 }
    /// From so many different numbers on, those that are nearly equal go together.
    private static let mostPoints = 1 << 14

    private struct Sums {
        var weights = 0.0
        /// Of the numbers times their weights.
        var values = 0.0
        var squares = 0.0
        var mean: Float { Float(values / weights) }
        /// The squared error around the mean.
        var error: Double { Swift.max(squares - values * values / weights, 0) }

        mutating func add(_ value: Float, _ weight: Float) {
            let (value, weight) = (Double(value), Double(weight))
            weights += weight
            values += weight * value
            squares += weight * value * value
        }

        static func + (one: Sums, other: Sums) -> Sums {
            Sums(
                weights: one.weights + other.weights, values: one.values + other.values,
                squares: one.squares + other.squares)
        }

        static func - (one: Sums, other: Sums) -> Sums {
            Sums(
                weights: one.weights - other.weights, values: one.values - other.values,
                squares: one.squares - other.squares)
        }
    }

    /// - Parameter weights: how much each number's squared error counts, above 0; alike if nil.
    init(_ values: [Float], weights: [Float]? = nil) {
        let points = Self.distinct(values, weights) ?? Self.bins(values, weights)
        var sums = [Sums()]
        for point in points { sums.append(sums[sums.count - 1] + point) }
        self.sums = sums
    }

    /// The different numbers, ascending; nil if there are too many.
    private static func distinct(_ values: [Float], _ weights: [Float]?) -> [Sums]? {
        var points: [Float: Sums] = [:]
        for (index, value) in values.enumerated() {
            points[value, default: Sums()].add(value, weights?[index] ?? 1)
            guard points.count <= mostPoints else { return nil }
        }
        return points.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The numbers in bins of equal width, empty ones left out.
    private static func bins(_ values: [Float], _ weights: [Float]?) -> [Sums] {
        let (low, high) = (Double(values.min() ?? 0), Double(values.max() ?? 0))
        let scale = Double(mostPoints) / (high - low)
        var bins = [Sums](repeating: Sums(), count: mostPoints)
        for (index, value) in values.enumerated() {
            let bin = min(Int((Double(value) - low) * scale), mostPoints - 1)
            bins[bin].add(value, weights?[index] ?? 1)
        }
        return bins.filter { $0.weights > 0 }
    }

    /// The best `count` numbers, ascending; the last is repeated where there are fewer different
    /// ones.
    func centers(_ count: Int) -> [Float] {
        guard pointCount > count else {
            let all = zip(sums, sums.dropFirst()).map { ($1 - $0).mean }
            return all + [Float](repeating: all.last ?? 0, count: count - all.count)
        }
        var ends = [pointCount]
        for row in splits(count).reversed() { ends.append(Int(row[ends[ends.count - 1]])) }
        ends.append(0)
        ends.reverse()
        return zip(ends, ends.dropFirst()).map { (sums[$1] - sums[$0]).mean }
    }

    /// For each number of clusters from 2 on, where the last one of the first i points begins.
    private func splits(_ count: Int) -> [[Int32]] {
        var best = sums.map { $0.weights > 0 ? $0.error : 0 }
        var rows: [[Int32]] = []
        for clusters in 2...count {
            var row = Row(sums: sums, best: best)
            row.solve(clusters...pointCount, from: clusters - 1, to: pointCount - 1)
            best = row.result
            rows.append(row.split)
        }
        return rows
    }

    /// One more cluster: for each i the best place to begin it.
    private struct Row {
        let sums: [Sums]
        let best: [Double]
        var result: [Double]
        var split: [Int32]

        init(sums: [Sums], best: [Double]) {
            (self.sums, self.best) = (sums, best)
            result = [Double](repeating: .infinity, count: sums.count)
            split = [Int32](repeating: 0, count: sums.count)
        }

        mutating func solve(_ range: ClosedRange<Int>, from low: Int, to high: Int) {
            let middle = (range.lowerBound + range.upperBound) / 2
            var (place, least) = (low, Double.infinity)
            for start in low...min(high, middle - 1) {
                let total = best[start] + (sums[middle] - sums[start]).error
                if total < least { (least, place) = (total, start) }
            }
            (result[middle], split[middle]) = (least, Int32(place))
            if range.lowerBound < middle {
                solve(range.lowerBound...middle - 1, from: low, to: place)
            }
            if middle < range.upperBound {
                solve(middle + 1...range.upperBound, from: place, to: high)
            }
        }
    }
}
