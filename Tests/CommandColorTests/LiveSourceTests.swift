import Retint
import RetintTestSupport
import Testing

/// Simulations of live sources, computed by hand. The times are sums of powers of two, which are
/// exact.
@Suite(.sampled()) struct LiveSourceTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let fps: Double
        let predictions: [Double]
        let frames: Int
        let inTime: Int
        /// The latency of each colored frame.
        let latencies: [Double]
    }

    static let cases = [
        // Frames arrive at 0, ¼, ½ and ¾, and each is done before the next.
        Case(
            testDescription: "fast enough", fps: 4, predictions: [0.125, 0.125, 0.125, 0.125],
            frames: 4, inTime: 4, latencies: [0.125, 0.125, 0.125, 0.125]),
        // Each prediction ends as the next frame arrives: all are in time, just so.
        Case(
            testDescription: "exactly the interval", fps: 4, predictions: [0.25, 0.25, 0.25],
            frames: 3, inTime: 3, latencies: [0.25, 0.25, 0.25]),
        // Frame 0 until 0.375. Frame 1 came at 0.25, starts at 0.375, ends at 0.75 (0.5 late).
        // Frames 2 (0.5) and 3 (0.75) came: 3 replaced 2 and starts at once, until 1.125 (0.375).
        Case(
            testDescription: "half as slow again", fps: 4, predictions: [0.375, 0.375, 0.375],
            frames: 4, inTime: 0, latencies: [0.375, 0.5, 0.375]),
        // Frame 0 until 1.0625: frames 1 to 3 were replaced by 4 (at 1). It is done at 1.1875, in
        // time, and 5 (at 1.25) waits for nothing.
        Case(
            testDescription: "one long prediction", fps: 4, predictions: [1.0625, 0.125, 0.125],
            frames: 6, inTime: 2, latencies: [1.0625, 0.1875, 0.125]),
        // Frame 0 until 0.4375. Frame 1 came at 0.25: with 0.1875 of waiting it is done after just
        // ¼, at 0.5. Frame 2 does not wait, until 0.9375, and 3 came at 0.75: 0.1875 + 0.125 is
        // late.
        Case(
            testDescription: "the wait counts", fps: 4,
            predictions: [0.4375, 0.0625, 0.4375, 0.125], frames: 4, inTime: 1,
            latencies: [0.4375, 0.25, 0.4375, 0.3125]),
        // Frame 0 until 2: frame 2 arrives at that moment and is next; 1 is dropped.
        Case(
            testDescription: "slower than the source", fps: 1, predictions: [2, 2, 2], frames: 5,
            inTime: 0, latencies: [2, 2, 2]),
        Case(
            testDescription: "a single prediction", fps: 2, predictions: [0.25], frames: 1,
            inTime: 1, latencies: [0.25]),
    ]

    @Test(arguments: cases) func dropsAndDelays(_ test: Case) {
        let live = PerformanceReport.LiveSource(fps: test.fps, predictions: test.predictions)
        #expect(live.frames == test.frames)
        #expect(live.colored == test.predictions.count)
        #expect(live.dropped == test.frames - test.predictions.count)
        #expect(live.inTime == test.inTime)
        #expect(live.inTimeShare == Double(test.inTime) / Double(test.frames))
        #expect(live.latency == PerformanceReport.DurationSummary(test.latencies))
        #expect(live.deadlineSeconds == 1 / test.fps)
        let rate = Double(test.predictions.count) / Double(test.frames) * test.fps
        #expect(abs(live.coloredPerSecond - rate) < 1e-12)
    }

    /// A model twice as fast as the source drops nothing, at rates whose interval is not exact.
    @Test(arguments: [23.976, 24, 29.97, 30, 59.94, 60]) func keepsUp(fps: Double) {
        let live = PerformanceReport.LiveSource(
            fps: fps, predictions: Array(repeating: 0.5 / fps, count: 1000))
        #expect(live.frames == 1000 && live.inTimeShare == 1)
        #expect(live.latency.maximumSeconds == 0.5 / fps)
    }

    @Test func nothingPredictedIsNothingColored() {
        let live = PerformanceReport.LiveSource(fps: 30, predictions: [])
        #expect(live.frames == 0 && live.dropped == 0 && live.inTimeShare.isNaN)
    }

    @Test func summarizesDurations() {
        let summary = PerformanceReport.DurationSummary((1...101).map { Double($0) }.shuffled())
        #expect(summary.count == 101)
        #expect(summary.minimumSeconds == 1 && summary.maximumSeconds == 101)
        #expect(summary.medianSeconds == 51)
        #expect(summary.p95Seconds == 96 && summary.p99Seconds == 100)
    }
}
