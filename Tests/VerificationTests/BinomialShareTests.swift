import RetintVerification
import Testing

/// Intervals of Clopper and Pearson against those of SciPy (`Goldens/record_intervals.py`).
@Suite struct BinomialShareTests {
    /// Passed, trials, and the ends of the intervals of 95 % and of 50 %.
    private static let recorded: [(Int, Int, Double, Double, Double, Double)] = [
        (0, 1, 0.000000000, 0.975000000, 0.000000000, 0.750000000),
        (1, 1, 0.025000000, 1.000000000, 0.250000000, 1.000000000),
        (0, 10, 0.000000000, 0.308497108, 0.000000000, 0.129449437),
        (1, 10, 0.002528579, 0.445016117, 0.028358342, 0.247370629),
        (5, 10, 0.187086028, 0.812913972, 0.350680814, 0.649319186),
        (8, 10, 0.443904538, 0.974789274, 0.644555792, 0.903596147),
        (10, 10, 0.691502892, 1.000000000, 0.870550563, 1.000000000),
        (13, 16, 0.543543454, 0.959526266, 0.701515026, 0.891011046),
        (16, 16, 0.794092786, 1.000000000, 0.917004043, 1.000000000),
        (1, 100, 0.000253146, 0.054459385, 0.002872687, 0.026699399),
        (99, 100, 0.945540615, 0.999746854, 0.973300601, 0.997127313),
        (730, 1000, 0.701332963, 0.757305850, 0.719881851, 0.739814334),
        (9999, 10000, 0.999442963, 0.999997468, 0.999730759, 0.999971232),
    ]

    @Test(arguments: recorded.indices) func intervalsAreThoseOfSciPy(_ index: Int) {
        let (passed, count, low, high, lower, higher) = Self.recorded[index]
        let share = BinomialShare(passed: passed, of: count)
        for (interval, wanted) in [
            (share.interval(), low...high), (share.interval(confidence: 0.5), lower...higher),
        ] {
            #expect(abs(interval.lowerBound - wanted.lowerBound) < 1e-8)
            #expect(abs(interval.upperBound - wanted.upperBound) < 1e-8)
        }
        #expect(share.share == Double(passed) / Double(count))
    }

    @Test func nothingIsKnownWithoutTrials() {
        let none = BinomialShare(passed: 0, of: 0)
        #expect(none.share.isNaN && none.interval() == 0...1)
    }
}
