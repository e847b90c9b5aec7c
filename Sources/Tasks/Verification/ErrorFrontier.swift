/// The values that decide whether all errors are within a bound |c − e| ≤ atol + rtol·|e|,
/// for any atol and rtol.
///
/// As points (|e|, |c − e|), they are the upper left part of the convex hull of all values: for
/// each rtol, the largest |c − e| − rtol·|e| is at one of its vertices. For a million values these
/// are a few dozen.
struct ErrorFrontier: Hashable, Sendable {
    /// The magnitude of an expected value, and the error of the value computed for it.
    struct Point: Hashable, Sendable, Codable {
        let expected: Double
        let error: Double
    }

    /// Both coordinates ascend. The last point has the largest error of all values.
    private(set) var points: [Point] = []

    init() {}

    /// Restores a frontier; nil if a coordinate is negative or does not ascend.
    init?(_ points: [Point]) {
        var last = (expected: -Double.leastNonzeroMagnitude, error: -Double.leastNonzeroMagnitude)
        for point in points {
            guard point.expected > last.expected, point.error > last.error,
                point.expected.isFinite, point.error.isFinite
            else { return nil }
            last = (point.expected, point.error)
        }
        self.points = points
    }

    /// Adds a value. NaN and infinity are ignored: they have no place in the order.
    mutating func add(_ point: Point) {
        guard point.expected.isFinite, point.error.isFinite else { return }
        if let last = points.last, point.expected >= last.expected, point.error <= last.error {
            return
        }
        let next = firstIndex(above: point.expected)
        guard isOutside(point, before: next) else { return }
        var (start, end) = (next, next)
        while end < points.count, points[end].error <= point.error { end += 1 }
        while end + 1 < points.count, !isAbove(points[end], point, points[end + 1]) { end += 1 }
        if start > 0, points[start - 1].expected == point.expected { start -= 1 }
        while start > 1, !isAbove(points[start - 1], points[start - 2], point) { start -= 1 }
        points.replaceSubrange(start..<end, with: [point])
    }

    /// The value that is farthest outside |c − e| ≤ atol + rtol·|e|; nil if all are within.
    func farthest(outside atol: Double, _ rtol: Double) -> Point? {
        // Negated, so that a NaN bound is violated.
        points.filter { !($0.error <= atol + rtol * $0.expected) }.max {
            $0.error - rtol * $0.expected < $1.error - rtol * $1.expected
        }
    }

    private func firstIndex(above expected: Double) -> Int {
        var (low, high) = (0, points.count)
        while low < high {
            let middle = (low + high) / 2
            if points[middle].expected > expected { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func isOutside(_ point: Point, before next: Int) -> Bool {
        guard next > 0 else { return true }
        let previous = points[next - 1]
        guard point.error > previous.error else { return false }
        return next == points.count || isAbove(point, previous, points[next])
    }
}

// In a file, the points are a list. What it holds is checked afterwards, where its place is known.
extension ErrorFrontier: Codable {
    init(from decoder: any Decoder) throws {
        points = try decoder.singleValueContainer().decode([Point].self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(points)
    }
}

/// Whether a point is above the line from `left` to `right`.
private func isAbove(
    _ point: ErrorFrontier.Point, _ left: ErrorFrontier.Point, _ right: ErrorFrontier.Point
) -> Bool {
    (point.error - left.error) * (right.expected - left.expected)
        > (right.error - left.error) * (point.expected - left.expected)
}
