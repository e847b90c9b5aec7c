import Engine
import Testing

@Suite struct TimingTests {
    static let medians: [(values: [Double], median: Double)] = [
        ([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([7], 7),
    ]

    @Test(arguments: medians)
    func medianIsTheMiddle(values: [Double], median: Double) {
        #expect(values.median == median)
    }

    @Test func nothingHasNoMedian() { #expect([Double]().median.isNaN) }

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
