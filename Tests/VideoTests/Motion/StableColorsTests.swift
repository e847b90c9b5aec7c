import RetintVideo
import Testing

@Suite struct StableColorsTests {
    private static func still(_ width: Int, _ height: Int, reliability: Float = 1) -> MotionField {
        let zeros = [Float](repeating: 0, count: width * height)
        return MotionField(
            width: width, height: height, dx: zeros, dy: zeros,
            reliability: zeros.map { _ in reliability }, explainedShare: 1)
    }

    private func plane(_ value: Float) -> [Float] { [Float](repeating: value, count: 6) }

    @Test func colorsAreAveragedOverTime() {
        var colors = StableColors(a: plane(10), b: plane(-10), width: 3, height: 2)
        colors = colors.next(a: plane(20), b: plane(-40), motion: Self.still(3, 2))
        #expect(colors.a == plane(15) && colors.b == plane(-25))
        colors = colors.next(a: plane(30), b: plane(-40), motion: Self.still(3, 2))
        #expect(colors.a == plane(20) && colors.b == plane(-30))
    }

    @Test func thePastWeighsNoMoreThanItsMemory() {
        var colors = StableColors(a: plane(0), b: plane(0), width: 3, height: 2)
        for _ in 0..<100 {
            colors = colors.next(a: plane(0), b: plane(0), motion: Self.still(3, 2))
        }
        colors = colors.next(a: plane(26), b: plane(13), motion: Self.still(3, 2))
        #expect(abs(colors.a[0] - 26 / (StableColors.memory + 1)) < 1e-4)
    }

    @Test func surerEstimatesWeighMore() {
        let start = StableColors(
            a: plane(0), b: plane(0), confidence: plane(0.25), width: 3, height: 2)
        let next = start.next(
            a: plane(10), b: plane(10), confidence: plane(0.75), motion: Self.still(3, 2))
        #expect(abs(next.a[0] - 7.5) < 1e-5)
    }

    @Test func whatDoesNotLookAlikeIsForgotten() {
        let start = StableColors(a: plane(50), b: plane(50), width: 3, height: 2)
        let next = start.next(
            a: plane(1), b: plane(2), motion: Self.still(3, 2, reliability: 0))
        #expect(next.a == plane(1) && next.b == plane(2))
    }

    /// The pixel at x was at x + 1: the last column comes from outside.
    @Test func colorsFollowTheMotion() {
        let start = StableColors(a: [0, 10, 20, 0, 10, 20], b: plane(0), width: 3, height: 2)
        let motion = MotionField(
            width: 3, height: 2, dx: plane(1), dy: plane(0), reliability: plane(1),
            explainedShare: 1)
        let next = start.next(a: plane(40), b: plane(0), motion: motion)
        #expect(next.a == [25, 30, 40, 25, 30, 40])
    }

    @Test func nothingIsCarriedOverACut() {
        let start = StableColors(a: plane(50), b: plane(50), width: 3, height: 2)
        let cut = MotionField(
            width: 3, height: 2, dx: plane(0), dy: plane(0), reliability: plane(1),
            explainedShare: 0.1)
        #expect(start.next(a: plane(1), b: plane(2), motion: cut).a == plane(1))
    }

    // MARK: Anchors

    @Test func framesTakeTheColorsOfAnAnchor() {
        var colors = StableColors(a: plane(0), b: plane(0), width: 3, height: 2)
        colors.follow(a: plane(40), b: plane(-20), motion: Self.still(3, 2))
        let strength = StableColors.anchorStrength
        #expect(abs(colors.a[0] - 40 * strength / (strength + 1)) < 1e-3)
        #expect(abs(colors.b[0] + 20 * strength / (strength + 1)) < 1e-3)
    }

    @Test func framesThatDoNotLookLikeAnAnchorKeepTheirs() {
        var colors = StableColors(a: plane(7), b: plane(0), width: 3, height: 2)
        colors.follow(a: plane(40), b: plane(-20), motion: Self.still(3, 2, reliability: 0))
        #expect(colors.a == plane(7))
    }

    /// Long after the memory of estimates has faded.
    @Test func laterFramesKeepTheColorsOfAnAnchor() {
        var colors = StableColors(a: plane(0), b: plane(0), width: 3, height: 2)
        colors.follow(a: plane(40), b: plane(0), motion: Self.still(3, 2))
        for _ in 0..<40 {
            colors = colors.next(a: plane(0), b: plane(0), motion: Self.still(3, 2))
        }
        #expect(colors.a[0] > 30)
        for _ in 0..<4 {
            colors = colors.next(
                a: plane(0), b: plane(0), motion: Self.still(3, 2, reliability: 0.1))
        }
        #expect(colors.a[0] < 1)
    }
}
