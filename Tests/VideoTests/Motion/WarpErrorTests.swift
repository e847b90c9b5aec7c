import RetintVideo
import Testing

@Suite struct WarpErrorTests {
    private func field(dx: [Float], reliability: [Float] = [1, 1, 1, 1, 1, 1]) -> MotionField {
        MotionField(
            width: 3, height: 2, dx: dx, dy: dx.map { _ in 0 }, reliability: reliability,
            explainedShare: 1)
    }

    private let earlier: (a: [Float], b: [Float]) = ([0, 10, 20, 0, 10, 20], [0, 0, 0, 5, 5, 5])

    @Test func colorsThatMoveAlongAreNoError() {
        var error = WarpError()
        error.add(
            ([10, 20, 0, 10, 20, 0], [0, 0, 9, 5, 5, 9]), after: earlier,
            along: field(dx: [1, 1, 1, 1, 1, 1]))
        #expect(error.mean == 0)
    }

    /// 3 and 4 make 5 at two pixels; the other four are equal.
    @Test func theDistanceIsAveraged() {
        var error = WarpError()
        error.add(
            ([3, 10, 20, 3, 10, 20], [4, 0, 0, 9, 5, 5]), after: earlier,
            along: field(dx: [0, 0, 0, 0, 0, 0]))
        #expect(abs(error.mean - 10.0 / 6) < 1e-6)
    }

    @Test func placesBetweenPixelsAreInterpolated() {
        var error = WarpError()
        error.add(
            ([5, 15, 0, 5, 15, 0], [0, 0, 0, 5, 5, 5]), after: earlier,
            along: field(dx: [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]))
        #expect(error.mean == 0)
    }

    @Test func whatIsNotSeenIsLeftOut() {
        var error = WarpError()
        error.add(
            ([99, 10, 20, 0, 10, 20], [0, 0, 0, 5, 5, 5]), after: earlier,
            along: field(dx: [0, 0, 0, 0, 0, 0], reliability: [0.2, 1, 1, 1, 1, 1]))
        #expect(error.mean == 0)
    }
}
