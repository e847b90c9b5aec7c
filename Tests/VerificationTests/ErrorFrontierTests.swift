import Testing

@testable import RetintVerification

/// The values that decide a bound on each value.
@Suite struct ErrorFrontierTests {
    private typealias Point = ErrorFrontier.Point

    private func frontier(_ points: [Point]) -> ErrorFrontier {
        points.reduce(into: ErrorFrontier()) { $0.add($1) }
    }

    /// Whole numbers, so that nothing is rounded, and many are equal.
    private func points(_ count: Int, below limit: Int) -> [Point] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in
            Point(
                expected: Double(Int.random(in: 0..<limit, using: &random)),
                error: Double(Int.random(in: 0..<limit, using: &random)))
        }
    }

    @Test(arguments: [(1, 5), (3, 4), (20, 6), (20, 1000), (500, 30), (2000, 100_000)])
    func hasTheLargestExcessForEachSlope(_ count: Int, _ limit: Int) throws {
        for _ in 0..<50 {
            let points = points(count, below: limit)
            let frontier = frontier(points)
            for rtol in [0, 0.125, 0.5, 1, 3, 64, 1e6] {
                let excess = points.map { $0.error - rtol * $0.expected }.max() ?? 0
                let found = frontier.points.map { $0.error - rtol * $0.expected }.max()
                #expect(found == excess)
                guard excess > 0 else { continue }
                #expect(frontier.farthest(outside: excess, rtol) == nil)
                let worst = try #require(frontier.farthest(outside: excess - 0.5, rtol))
                #expect(worst.error - rtol * worst.expected == excess)
            }
        }
    }

    @Test func keepsFew() {
        #expect(frontier(points(20_000, below: 1_000_000)).points.count < 60)
        // On a line, only its ends decide.
        let shuffled: [Double] = (0..<1000).map { Double($0 * 7 % 1000) }
        let line = frontier(shuffled.map { Point(expected: $0, error: $0) })
        let ends: [Double] = [0, 999]
        #expect(line.points == ends.map { Point(expected: $0, error: $0) })
    }

    @Test func leavesOutWhatHasNoOrder() {
        let odd = [Point(expected: .infinity, error: 1), Point(expected: 1, error: .nan)]
        #expect(frontier(odd).points.isEmpty)
    }

    @Test func isRestored() {
        let frontier = frontier(points(500, below: 10_000))
        #expect(ErrorFrontier(frontier.points) == frontier)
        #expect(ErrorFrontier([]) == ErrorFrontier())
        for (expected, error) in [(-1.0, 0.0), (0, -1), (.nan, 1), (1, .infinity)] {
            #expect(ErrorFrontier([Point(expected: expected, error: error)]) == nil)
        }
        let low = Point(expected: 1, error: 1)
        #expect(ErrorFrontier([low, Point(expected: 2, error: 1)]) == nil)
        #expect(ErrorFrontier([low, Point(expected: 1, error: 2)]) == nil)
        #expect(ErrorFrontier([low, Point(expected: 2, error: 2)]) != nil)
    }
}
