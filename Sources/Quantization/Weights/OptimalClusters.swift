/// Numbers that are to be replaced by a few, with the least sum of squared errors.
///
/// On a line the best clusters are runs of the sorted numbers, and the best end of a run never moves
/// back as more numbers are added; so the best of all is found by dynamic programming, each row of
/// which is solved by halves (Wu, "Optimal Quantization by Matrix Searching", 1991; Grønlund et al.,
/// "Fast Exact k-Means, k-Medians and Bregman Divergence Clustering in 1D", 2017).
struct OptimalClusters {
    /// Different numbers, ascending; many are gathered in bins first.
    private let points: [Float]
    /// Sums over the first i points: of the weights, of the numbers, of their squares.
    private var counts: [Double] = [0]
    private var sums: [Double] = [0]
    private var squares: [Double] = [0]
    /// From so many different numbers on, those that are nearly equal go together.
    private static let mostPoints = 1 << 14

    /// - Parameter weights: how much each number's squared error counts, above 0; alike if nil.
    init(_ values: [Float], weights: [Float]? = nil) {
        let order = values.indices.sorted { values[$0] < values[$1] }
        let width = Self.binWidth(order.lazy.map { values[$0] })
        var points: [Float] = []
        var end = -Float.infinity
        for index in order {
            let value = values[index]
            if value > end {
                points.append(value)
                counts.append(counts[counts.count - 1])
                sums.append(sums[sums.count - 1])
                squares.append(squares[squares.count - 1])
                end = value + width
            }
            let weight = Double(weights?[index] ?? 1)
            counts[points.count] += weight
            sums[points.count] += weight * Double(value)
            squares[points.count] += weight * Double(value) * Double(value)
        }
        self.points = points
    }

    /// How far numbers may be apart to count as one: nothing, if there are few.
    private static func binWidth(_ sorted: some RandomAccessCollection<Float>) -> Float {
        guard let first = sorted.first, let last = sorted.last else { return 0 }
        var different = 1
        for (one, next) in zip(sorted, sorted.dropFirst()) where one != next { different += 1 }
        return different <= mostPoints ? 0 : (last - first) / Float(mostPoints)
    }

    /// The squared error of points `first..<last` around their mean.
    private func error(_ first: Int, _ last: Int) -> Double {
        let (count, sum) = (counts[last] - counts[first], sums[last] - sums[first])
        return max(squares[last] - squares[first] - sum * sum / count, 0)
    }

    private func mean(_ first: Int, _ last: Int) -> Float {
        Float((sums[last] - sums[first]) / (counts[last] - counts[first]))
    }

    /// The best `count` numbers, ascending; the last is repeated where there are fewer different
    /// ones.
    func centers(_ count: Int) -> [Float] {
        guard points.count > count else {
            let all = points.indices.map { mean($0, $0 + 1) }
            return all + [Float](repeating: all.last ?? 0, count: count - all.count)
        }
        var ends = [points.count]
        for row in splits(count).reversed() { ends.append(Int(row[ends[ends.count - 1]])) }
        ends.append(0)
        ends.reverse()
        return zip(ends, ends.dropFirst()).map { mean($0, $1) }
    }

    /// For each number of clusters from 2 on, where the last one of the first i points begins.
    private func splits(_ count: Int) -> [[Int32]] {
        var best = (0...points.count).map { $0 == 0 ? 0 : error(0, $0) }
        var rows: [[Int32]] = []
        for clusters in 2...count {
            var row = Row(best: best, points: points.count)
            row.solve(clusters...points.count, from: clusters - 1, to: points.count - 1, error)
            best = row.result
            rows.append(row.split)
        }
        return rows
    }

    /// One more cluster: for each i the best place to begin it.
    private struct Row {
        let best: [Double]
        var result: [Double]
        var split: [Int32]

        init(best: [Double], points: Int) {
            self.best = best
            result = [Double](repeating: .infinity, count: points + 1)
            split = [Int32](repeating: 0, count: points + 1)
        }

        mutating func solve(
            _ range: ClosedRange<Int>, from low: Int, to high: Int, _ error: (Int, Int) -> Double
        ) {
            let middle = (range.lowerBound + range.upperBound) / 2
            var place = low
            for start in low...min(high, middle - 1) {
                let total = best[start] + error(start, middle)
                if total < result[middle] { (result[middle], place) = (total, start) }
            }
            split[middle] = Int32(place)
            if range.lowerBound < middle {
                solve(range.lowerBound...middle - 1, from: low, to: place, error)
            }
            if middle < range.upperBound {
                solve(middle + 1...range.upperBound, from: place, to: high, error)
            }
        }
    }
}
