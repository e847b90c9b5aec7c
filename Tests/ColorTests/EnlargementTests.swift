import RetintTestSupport
import Testing

@testable import RetintColor

/// Errors at edges, and colors guided by the lightness, against SciPy (Goldens/record.py).
@Suite struct EnlargementTests {
    private struct EdgeGoldens: Decodable {
        let width, height: Int
        let reference, estimate: [Float]
        let atEdges, elsewhere: Double
    }

    private struct GuidedGoldens: Decodable {
        let width, height: Int
        let lightness, a, b, scaleA, offsetA, scaleB, offsetB: [Float]
    }

    @Test func edgeErrorsMatchSciPy() throws {
        let goldens: EdgeGoldens = try decodeGolden("edges.json", keys: .convertFromSnakeCase)
        let errors = try ABEdgeErrors(
            reference: LabPlanes(interleaved: goldens.reference),
            estimate: LabPlanes(interleaved: goldens.estimate), width: goldens.width,
            height: goldens.height, reach: 2)
        #expect(abs(try #require(errors.atEdges) - goldens.atEdges) < 1e-4)
        #expect(abs(try #require(errors.elsewhere) - goldens.elsewhere) < 1e-4)
    }

    @Test func aUniformImageHasNoEdges() throws {
        let planes = LabPlanes(l: [5, 5, 5, 5], a: [1, 1, 1, 1], b: [2, 2, 2, 2])
        let errors = try ABEdgeErrors(
            reference: planes, estimate: planes, width: 2, height: 2, reach: 1)
        #expect(errors.atEdges == nil && errors.elsewhere == 0)
        #expect(throws: ColorScienceError.self) {
            try ABEdgeErrors(reference: planes, estimate: planes, width: 3, height: 2, reach: 1)
        }
    }

    @Test func guidedColorsMatchSciPy() throws {
        let goldens: GuidedGoldens = try decodeGolden("guided.json", keys: .convertFromSnakeCase)
        let colors = GuidedColors(
            lightness: goldens.lightness, a: goldens.a, b: goldens.b, width: goldens.width,
            height: goldens.height, radius: 2, regularization: 3)
        for (found, expected) in [
            (colors.scaleA, goldens.scaleA), (colors.offsetA, goldens.offsetA),
            (colors.scaleB, goldens.scaleB), (colors.offsetB, goldens.offsetB),
        ] {
            #expect(largestDifference(found, expected) < 2e-3)
        }
    }

    /// A window may be larger than the image.
    @Test func uniformColorsStay() {
        let colors = GuidedColors(
            lightness: [10, 90, 40, 20], a: [7, 7, 7, 7], b: [-3, -3, -3, -3], width: 2, height: 2,
            radius: 6, regularization: 3)
        for index in 0..<4 {
            #expect(abs(colors.scaleA[index]) < 1e-4 && abs(colors.offsetA[index] - 7) < 1e-3)
            #expect(abs(colors.scaleB[index]) < 1e-4 && abs(colors.offsetB[index] + 3) < 1e-3)
        }
    }

    /// Colors that are linear in the lightness, by either kernel.
    @Test(arguments: [1, 128, 1001])
    func linearColorsAreThoseOfTheirValues(count: Int) {
        let pixels = (0..<3 * count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        let l = lab(fromRGB: pixels).l
        let scale = (0..<count).map { Float($0 % 7) / 10 - 0.3 }
        let offset = (0..<count).map { Float($0 % 31) - 15 }
        var linear = pixels, direct = pixels
        linear.withUnsafeMutableBufferPointer {
            Recoloring.recolor(
                $0.baseAddress!, scaleA: scale, offsetA: offset, scaleB: offset.map { $0 / 40 },
                offsetB: scale, count: count)
        }
        let a = (0..<count).map { scale[$0] * l[$0] + offset[$0] }
        let b = (0..<count).map { offset[$0] / 40 * l[$0] + scale[$0] }
        direct.withUnsafeMutableBufferPointer {
            Recoloring.recolor($0.baseAddress!, a: a, b: b, count: count)
        }
        // L is computed once more from its own f: the last bit may differ, and with it a level.
        let differences = zip(linear, direct).map { abs(Int($0) - Int($1)) }
        #expect((differences.max() ?? 0) <= 1)
        #expect(differences.reduce(0, +) <= 1 + count / 100)
    }
}
