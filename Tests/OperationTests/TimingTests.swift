import RetintEngine
import Testing

@Suite struct TimingTests {
    static let medians: [(values: [Double], median: Double)] = [
        ([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([7], 7),
    ]

    @Test(arguments: medians)
    func medianIsTheMiddle(values: [Double], median: Double) {
        #expect(values.median == median)
    }

    /// Numbers of `numpy.percentile`, also computed by hand: the position among n sorted values is
    /// share · (n − 1), and the value is linear between the two neighbors.
    static let percentiles: [(values: [Double], share: Double, percentile: Double)] = [
        ([5, 1, 4, 2, 3], 0.95, 4.8), ([10, 2, 3, 1], 0.99, 9.79), ([4, 1, 3, 2], 0, 1),
        ([4, 1, 3, 2], 1, 4), ([7], 0.99, 7), ([1, 2], 0.25, 1.25), ([1, .infinity], 0, 1),
    ]

    @Test(arguments: percentiles)
    func percentileIsLinearBetweenNeighbors(values: [Double], share: Double, percentile: Double) {
        #expect(abs(values.percentile(share) - percentile) < 1e-12)
    }

    @Test func nothingHasNoMedian() {
        #expect([Double]().median.isNaN && [Double]().percentile(0.95).isNaN)
    }

    @Test func warmupIsNotTimed() {
        var runs = 0
        let seconds = measureSeconds(runs: 3, warmup: 2) { runs += 1 }
        #expect(runs == 5 && seconds.count == 3)
        #expect(seconds.allSatisfy { $0 >= 0 })
    }

    @Test func runsFollowUntilTheTimeHasPassed() {
        let clock = ContinuousClock()
        let start = clock.now
        let seconds = measureSeconds(runs: 1, for: .milliseconds(5), warmup: 0) {}
        #expect(seconds.count > 1 && clock.now - start >= .milliseconds(5))
    }
}
