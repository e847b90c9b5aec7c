import Retint
import RetintTestSupport
import Testing

@testable import RetintMeasuring

/// The model of a training step on several ranks, in cases that were computed by hand.
@Suite(.sampled()) struct StepPredictionTests {
    /// Two buckets; three seconds of computing and half a second of update.
    static let timeline = BenchmarkReport.StepTimeline(
        buckets: [.init(bytes: 100, readySeconds: 1), .init(bytes: 200, readySeconds: 2)],
        backwardSeconds: 3, updateSeconds: 0.5)

    /// Two ranks send as many bytes as a bucket has: 1 and 2 seconds.
    static let link = BenchmarkReport.LinkParameters(
        latencySeconds: 0.25, bytesPerSecond: 100, messageSeconds: 0, sumSecondsPerByte: 0,
        lostSecondsPerByte: 0)

    private static func report(_ timeline: BenchmarkReport.StepTimeline = timeline)
        -> BenchmarkReport.RankReport
    {
        BenchmarkReport.RankReport(
            ranks: 2, batch: 8, step: .init(seconds: 5, waitedSeconds: 1.5),
            stepWithoutOverlap: .init(seconds: 7, waitedSeconds: 3.5), timeline: timeline,
            oneImageSeconds: 1.5, sums: [], link: link)
    }

    private func expect(
        _ found: (step: Double, waited: Double), _ step: Double, _ waited: Double,
        location: SourceLocation = #_sourceLocation
    ) {
        #expect(abs(found.step - step) < 1e-9, "\(found.step)", sourceLocation: location)
        #expect(abs(found.waited - waited) < 1e-9, "\(found.waited)", sourceLocation: location)
    }

    /// The link sends from 1 to 2 and from 2 to 4; the last bucket arrives at 4.5.
    @Test func bucketsAreSentOneAfterTheOther() {
        expect(Self.timeline.seconds(on: 2, Self.link), 5, 1.5)
    }

    /// Each rank sends 150 and 300 bytes: from 1 to 2.5 and to 5.5.
    @Test func moreRanksSendMoreBytes() {
        expect(Self.timeline.seconds(on: 4, Self.link), 6.5, 3)
    }

    @Test func oneRankSendsNothing() {
        expect(Self.timeline.seconds(on: 1, Self.link), 3.5, 0)
    }

    /// From 3 to 4 and to 6, and half a second more.
    @Test func withoutOverlapAllWaits() {
        expect(Self.timeline.withoutOverlap.seconds(on: 2, Self.link), 7, 3.5)
    }

    /// The first takes 0.2 + 1 + 0.5 seconds, the second 0.2 + 2 + 1: 1 to 2.7 and to 5.9.
    @Test func messagesAndSumsTakeTime() {
        var link = Self.link
        (link.messageSeconds, link.sumSecondsPerByte) = (0.1, 0.01)
        expect(Self.timeline.seconds(on: 2, link), 6.9, 3.4)
        // Three messages in each of two rounds, and three quarters of the bytes are added.
        #expect(abs(link.sumSeconds(100, ranks: 4) - (0.6 + 1.5 + 0.75 + 0.5)) < 1e-9)
    }

    /// Computing goes half as fast while the link sends: the second bucket is ready at 2.5, and is
    /// sent until 4.5, when the backward pass ends, too.
    @Test func sendingSlowsComputing() {
        var link = Self.link
        link.lostSecondsPerByte = 0.005
        expect(Self.timeline.seconds(on: 2, link), 5.5, 0.5)
        // Computing stands still at most: the first bucket is sent from 1 to 2, the second one,
        // ready a second later, from 3 to 5, and the backward pass ends at 6.
        link.lostSecondsPerByte = 1
        expect(Self.timeline.seconds(on: 2, link), 6.5, 0)
    }

    @Test func latencyAndBandwidthAreFitted() {
        var link = Self.link
        (link.latencySeconds, link.bytesPerSecond) = (0.003, 5e6)
        (link.messageSeconds, link.sumSecondsPerByte) = (1e-4, 2e-8)
        let sums = [1000, 20_000, 500_000].map {
            BenchmarkReport.RankReport.Sum(bytes: $0, seconds: link.sumSeconds($0, ranks: 3))
        }
        let fitted = BenchmarkReport.LinkParameters(
            fitting: sums, ranks: 3, messageSeconds: 1e-4, sumSecondsPerByte: 2e-8,
            lostSecondsPerByte: 0)
        #expect(abs(fitted.latencySeconds - 0.003) < 1e-9, "\(fitted)")
        #expect(abs(fitted.bytesPerSecond - 5e6) < 1, "\(fitted)")
    }

    /// On a busy machine, a large sum may be measured as faster than a small one.
    @Test(arguments: [0.02, 0.01])
    func bandwidthIsFinite(_ seconds: Double) {
        let sums = [
            BenchmarkReport.RankReport.Sum(bytes: 1000, seconds: 0.02),
            BenchmarkReport.RankReport.Sum(bytes: 500_000, seconds: seconds),
        ]
        let fitted = BenchmarkReport.LinkParameters(
            fitting: sums, ranks: 3, messageSeconds: 1e-4, sumSecondsPerByte: 2e-8,
            lostSecondsPerByte: 0)
        #expect((1...1e15).contains(fitted.bytesPerSecond), "\(fitted)")
    }

    /// Four images for each rank were measured, which took 3 s; one takes 1.5 s, each more 0.5 s.
    @Test func smallerSharesTakeLess() {
        let whole = Self.report().prediction(ranks: 2)
        #expect(whole.batch == 8 && abs(whole.stepSeconds - 5) < 1e-9)
        #expect(abs(whole.imagesPerSecond - 1.6) < 1e-9 && abs(whole.waitedShare - 0.3) < 1e-9)
        // Two ranks without messages: 2 · 4 images in 3.5 s.
        #expect(abs(whole.efficiency - 3.5 / 5) < 1e-9)
        // Two images each: ready at 2/3 and 4/3, sent to 5/3 and 11/3, there at 11/3 + 1/2.
        let half = Self.report().prediction(ranks: 2, batch: 4)
        #expect(abs(half.stepSeconds - (11.0 / 3 + 1)) < 1e-9)
        // A rank has two of three images.
        let uneven = Self.report().prediction(ranks: 2, batch: 3)
        #expect(uneven.stepSeconds == half.stepSeconds && uneven.batch == 3)
        #expect(Self.report().prediction(ranks: 64).batch == 256)
    }
}
