import Testing

@testable import RetintColor

@Suite struct RecoloringTests {
    /// The same bytes as by way of Lab, for lightness of all levels and colors in and far outside
    /// of sRGB. Counts that do not divide by the kernel's blocks have a last block.
    @Test(arguments: [1, 127, 128, 129, 100_003])
    func givesTheBytesOfLab(count: Int) {
        var state: UInt64 = 5
        func random(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        let pixels = (0..<3 * count).map { _ in UInt8(random(256)) }
        let a = (0..<count).map { _ in Float(random(4001)) / 10 - 200 }
        let b = (0..<count).map { _ in Float(random(4001)) / 10 - 200 }
        let expected = LabPlanes(l: lab(fromRGB: pixels).l, a: a, b: b).rgb()
        #expect(recolored(pixels, a, b) == expected)
    }

    @Test func grayKeepsItsLevels() {
        let pixels = (0..<256).flatMap { [UInt8](repeating: UInt8($0), count: 3) }
        let zeros = [Float](repeating: 0, count: 256)
        #expect(recolored(pixels, zeros, zeros) == pixels)
    }

    @Test func aNaNGivesAColor() {
        let nan = [Float](repeating: .nan, count: 3)
        #expect(recolored([9, 9, 9, 128, 0, 255, 7, 1, 0], nan, nan).count == 9)
    }

    private func recolored(_ pixels: [UInt8], _ a: [Float], _ b: [Float]) -> [UInt8] {
        var result = pixels
        result.withUnsafeMutableBufferPointer {
            Recoloring.recolor($0.baseAddress!, a: a, b: b, count: a.count)
        }
        return result
    }
}
