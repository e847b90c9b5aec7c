/// Optimal k-means in one dimension: the k centers with the least weighted sum of squared errors.
///
/// In one dimension the optimal clusters are runs of the sorted values, and the start of the last
/// run never moves back as values are added. The optimum is therefore found by dynamic programming,
/// each row of which is solved by divide and conquer (Wu, "Optimal Quantization by Matrix
/// Searching", 1991; Grønlund et al., "Fast Exact k-Means, k-Medians and Bregman Divergence
/// Clustering in 1D", 2017).
struct OptimalClusters {
    /// Prefix sums over the sorted distinct values, or over histogram bins if there are too many.
    private let sums: [Sums]
    private var pointCount: Int { sums.count - 1 }
    /// The maximum number of distinct values; more are merged into a histogram of as many bins.
    private static let maximumPoints = 1 << 14

    private struct Sums {
        var weights = 0.0
        /// The weighted sum of the values.
        var values = 0.0
        /// The weighted sum of the squared values.
        var squares = 0.0
        var mean: Float { Float(values / weights) }
        /// The squared error about the mean.
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

    /// - Parameter weights: the weight of each value's squared error, above 0; nil for equal
    ///   weights.
    init(_ values: [Float], weights: [Float]? = nil) {
        let points = Self.distinct(values, weights) ?? Self.bins(values, weights)
        var sums = [Sums()]
        for point in points { sums.append(sums[sums.count - 1] + point) }
        self.sums = sums
    }

    /// The distinct values, ascending; nil if there are too many.
    private static func distinct(_ values: [Float], _ weights: [Float]?) -> [Sums]? {
        var points: [Float: Sums] = [:]
        for (index, value) in values.enumerated() {
            points[value, default: Sums()].add(value, weights?[index] ?? 1)
            guard points.count <= maximumPoints else { return nil }
        }
        return points.sorted { $0.key < $1.key }.map(\.value)
    }

    /// A histogram of the values with bins of equal width, without empty bins.
    private static func bins(_ values: [Float], _ weights: [Float]?) -> [Sums] {
        let (low, high) = (Double(values.min() ?? 0), Double(values.max() ?? 0))
        let scale = Double(maximumPoints) / (high - low)
        var bins = [Sums](repeating: Sums(), count: maximumPoints)
        for (index, value) in values.enumerated() {
            let bin = min(Int((Double(value) - low) * scale), maximumPoints - 1)
            bins[bin].add(value, weights?[index] ?? 1)
        }
        return bins.filter { $0.weights > 0 }
    }

    /// The `count` optimal centers, ascending. If there are fewer distinct values, the last one is
    /// repeated.
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

    /// For each number of clusters k ≥ 2 and each i: where the last of k optimal clusters of the
    /// first i points starts.
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

    /// A row of the dynamic program: adds one cluster and finds its best start for each i.
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
            var (bestStart, least) = (low, Double.infinity)
            for start in low...min(high, middle - 1) {
                let total = best[start] + (sums[middle] - sums[start]).error
                if total < least { (least, bestStart) = (total, start) }
            }
            (result[middle], split[middle]) = (least, Int32(bestStart))
            if range.lowerBound < middle {
                solve(range.lowerBound...middle - 1, from: low, to: bestStart)
            }
            if middle < range.upperBound {
                solve(middle + 1...range.upperBound, from: bestStart, to: high)
            }
        }
    }
}
