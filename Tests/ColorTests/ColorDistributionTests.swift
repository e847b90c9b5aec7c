import RetintColor
import Testing

@Suite struct ColorDistributionTests {
    private func gray(_ levels: [UInt8]) -> ColorDistribution {
        ColorDistribution(ofRGB: levels.flatMap { [$0, $0, $0] })
    }

    @Test func equalImagesDoNotDiverge() {
        #expect(gray([1, 2, 2, 9]).divergence(from: gray([9, 2, 1, 2])) == 0)
    }

    @Test func imagesWithoutACommonLevelDivergeByLog2() {
        #expect(abs(gray([1, 2]).divergence(from: gray([3, 4])) - 0.693_147) < 1e-6)
    }

    /// P = (½, ½), Q = (1, 0), M = (¾, ¼): ½(½ ln ⅔ + ½ ln 2) + ½ ln 4⁄3.
    @Test func halfACommonLevel() {
        #expect(abs(gray([1, 2]).divergence(from: gray([1, 1])) - 0.215_762) < 1e-6)
    }

    /// Red differs as above, green and blue are equal.
    @Test func channelsAreAveraged() {
        let first = ColorDistribution(ofRGB: [1, 7, 7, 2, 7, 7])
        let second = ColorDistribution(ofRGB: [1, 7, 7, 1, 7, 7])
        #expect(abs(first.divergence(from: second) - 0.215_762 / 3) < 1e-6)
    }
}

@Suite struct ExposureTests {
    /// Twice the light of level 100 is level 137.6 (IEC 61966-2-1).
    @Test func aStopDoublesTheLight() {
        #expect(exposed([0, 100, 200, 255], stops: 1) == [0, 138, 255, 255])
        #expect(exposed([0, 100, 255], stops: 0) == [0, 100, 255])
    }
}
