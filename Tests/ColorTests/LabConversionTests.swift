import RetintColor
import Testing

@Suite struct LabConversionTests {
    @Test func labMatchesScikitImage() throws {
        let goldens = try ColorGoldens.load()
        let planes = lab(fromRGB: goldens.rgb)
        #expect(largestDifference(planes.interleaved, goldens.lab) <= 1e-4)
    }

    @Test func rgbMatchesScikitImageInsideAndOutsideTheGamut() throws {
        let goldens = try ColorGoldens.load()
        #expect(LabPlanes(interleaved: goldens.lab).rgb() == goldens.rgb)
        let outside = LabPlanes(interleaved: goldens.outOfGamutLab)
        #expect(outside.rgb() == goldens.outOfGamutRgb)
    }

    @Test func everyColorSurvivesTheRoundTrip() {
        for red in UInt8.min...255 {
            let slice = slice(red: red)
            #expect(lab(fromRGB: slice).rgb() == slice, "red \(red)")
        }
    }

    @Test(arguments: 0...17) func anyNumberOfPixels(count: Int) {
        let pixels = (0..<count * 3).map { UInt8($0 * 5 % 256) }
        #expect(lab(fromRGB: pixels).rgb() == pixels)
    }

    @Test func notANumberAndInfinityBecomeColors() {
        let planes = LabPlanes(
            l: [.nan, 50, .infinity, -.infinity, 1e30], a: [0, .nan, 0, 0, -1e30],
            b: [0, 0, 0, 0, 1e30])
        #expect(planes.rgb().count == 15)
        #expect(Array(planes.rgb()[0..<3]) == [0, 0, 0])
        #expect(Array(planes.rgb()[9..<12]) == [0, 0, 0])
    }

    /// All 65,536 colors of one red level.
    private func slice(red: UInt8) -> [UInt8] {
        var pixels = [UInt8](repeating: red, count: 3 << 16)
        for color in 0..<1 << 16 {
            pixels[color * 3 + 1] = UInt8(color >> 8)
            pixels[color * 3 + 2] = UInt8(color & 255)
        }
        return pixels
    }
}
