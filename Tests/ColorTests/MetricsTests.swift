import RetintColor
import Testing

@Suite struct MetricsTests {
    @Test func colorDifferencesMatchScikitImage() throws {
        let goldens = try ColorGoldens.load()
        let first = LabPlanes(interleaved: goldens.lab)
        let second = LabPlanes(interleaved: goldens.otherLab)
        let delta2000 = try deltaE2000(first, second)
        #expect(largestDifference(delta2000, goldens.deltaE2000) <= 1e-4)
        #expect(largestDifference(try deltaE76(first, second), goldens.deltaE76) <= 1e-4)
        let mean = Double(delta2000.reduce(0, +)) / Double(delta2000.count)
        #expect(abs(try meanDeltaE2000(first, second) - mean) <= 1e-4)
    }

    @Test func imageMeasuresMatchScikitImage() throws {
        let goldens = try ImageGoldens.load()
        let (first, second) = (goldens.first, goldens.second)
        let (firstLab, secondLab) = (lab(fromRGB: first), lab(fromRGB: second))
        var errors = ABErrors()
        try errors.add(reference: firstLab, estimate: secondLab)
        var balanced = BalancedABErrors()
        try balanced.add(reference: firstLab, estimate: secondLab)
        let measured: [(String, Double, Double)] = [
            ("PSNR", try psnr(first, second), goldens.psnr),
            (
                "PSNR of floats",
                try psnr(first.map(Float.init), second.map(Float.init), peak: 255), goldens.psnr
            ),
            (
                "SSIM",
                try structuralSimilarity(
                    first, second, width: goldens.width, height: goldens.height), goldens.ssim
            ),
            ("colorfulness", try colorfulness(ofRGB: first), goldens.colorfulness),
            (
                "BasicSR's colorfulness", try basicSRColorfulness(ofRGB: first),
                goldens.basicsrColorfulness
            ),
            ("mean ΔE2000", try meanDeltaE2000(firstLab, secondLab), goldens.meanDeltaE2000),
            ("mean ab error", try meanABError(firstLab, secondLab), goldens.meanAbError),
            ("area under curve", errors.areaUnderCurve, goldens.areaUnderCurve),
            ("balanced area", balanced.areaUnderCurve, goldens.balancedArea),
        ]
        for (name, value, golden) in measured {
            #expect(abs(value - golden) <= 1e-4, "\(name): \(value), recorded \(golden)")
        }
    }

    @Test func groupsOfPixelsMatchScikitImage() throws {
        let goldens = try GroupGoldens.load()
        let (reference, estimate) = (
            LabPlanes(interleaved: goldens.reference), LabPlanes(interleaved: goldens.estimate)
        )
        let apart = try ChromaHueErrors(reference: reference, estimate: estimate)
        // Two halves, as of two images.
        var (groups, half) = (ABGroupErrors(), ABGroupErrors())
        try groups.add(reference: reference.prefix(100), estimate: estimate.prefix(100))
        try half.add(reference: reference.suffix(200), estimate: estimate.suffix(200))
        groups.add(half)
        let gray = try #require(groups.nearGray)
        let lightness = groups.errorsByLightness.map { $0 ?? .nan }
        let measured =
            [apart.chroma, apart.chromaBias, apart.hue, groups.hueAngle ?? .nan] + lightness
            + [gray.chroma, gray.a, gray.b, groups.nearGrayShare]
        let recorded =
            [goldens.chromaError, goldens.chromaBias, goldens.hueError, goldens.hueAngle]
            + goldens.errorsByLightness + goldens.nearGray + [goldens.nearGrayShare]
        #expect(measured.count == recorded.count)
        for (value, golden) in zip(measured, recorded) {
            #expect(abs(value - golden) <= 1e-4, "\(value), recorded \(golden)")
        }
    }

    @Test func skinByToneMatchesScikitImage() throws {
        let goldens = try SkinGoldens.load()
        let (reference, estimate) = (lab(fromRGB: goldens.original), lab(fromRGB: goldens.estimate))
        var (skin, again) = (SkinErrors(), SkinErrors())
        try again.add(
            original: goldens.original, reference: reference, estimate: estimate,
            width: goldens.width)
        #expect(SkinTone.allCases.map(skin.deltaE2000) == [Double?](repeating: nil, count: 6))
        skin.add(again)
        skin.add(again)
        for (tone, golden) in zip(SkinTone.allCases, goldens.deltaE2000) {
            let (value, golden) = (skin.deltaE2000(of: tone) ?? .nan, golden ?? .nan)
            #expect(abs(value - golden) <= 1e-3, "\(tone): \(value), recorded \(golden)")
        }
    }

    @Test func skinInBoxesMatchesScikitImage() throws {
        let goldens = try SkinGoldens.load()
        var skin = SkinErrors()
        try skin.add(
            original: goldens.original, reference: lab(fromRGB: goldens.original),
            estimate: lab(fromRGB: goldens.estimate), width: goldens.width,
            in: goldens.boxes.map {
                PixelRegion(rows: $0[1]..<$0[1] + $0[3], columns: $0[0]..<$0[0] + $0[2])
            })
        #expect(goldens.deltaE2000InBoxes.contains { $0 != nil })
        for (tone, golden) in zip(SkinTone.allCases, goldens.deltaE2000InBoxes) {
            let value = skin.deltaE2000(of: tone)
            #expect((value == nil) == (golden == nil))
            #expect(abs((value ?? 0) - (golden ?? 0)) <= 1e-3, "\(tone): \(value ?? .nan)")
        }
    }

    @Test func groupsWithoutPixelsHaveNoErrors() throws {
        let red = LabPlanes(l: [100], a: [60], b: [0])
        var groups = ABGroupErrors()
        #expect(groups.hueAngle == nil && groups.nearGrayShare.isNaN)
        try groups.add(reference: red, estimate: LabPlanes(l: [100], a: [0], b: [0]))
        #expect(groups.errorsByLightness == [nil, nil, nil, 60])
        // A gray estimate has no hue.
        #expect(groups.hueAngle == nil && groups.nearGray == nil && groups.nearGrayShare == 0)
        let green = LabPlanes(l: [100], a: [-60], b: [0])
        try groups.add(reference: red, estimate: green)
        #expect(groups.hueAngle == 180)
        let apart = try ChromaHueErrors(reference: red, estimate: green)
        #expect(apart.chroma == 0 && apart.chromaBias == 0 && apart.hue == 120)
    }

    @Test func equalImagesReachTheBestValues() throws {
        let pixels = (0..<300).map { UInt8($0 % 251) }
        let planes = lab(fromRGB: pixels)
        var errors = ABErrors()
        try errors.add(reference: planes, estimate: planes)
        #expect(try psnr(pixels, pixels) == .infinity)
        #expect(try structuralSimilarity(pixels, pixels, width: 10, height: 10) == 1)
        #expect(try meanDeltaE2000(planes, planes) == 0)
        #expect(errors.mean == 0)
        #expect(errors.areaUnderCurve == 1)
    }

    @Test func grayHasNoColorfulness() throws {
        #expect(try colorfulness(ofRGB: [0, 0, 0, 90, 90, 90, 255, 255, 255]) == 0)
    }

    @Test func weightsShiftTheErrorCurve() throws {
        let reference = LabPlanes(l: [50, 50], a: [0, 0], b: [0, 0])
        let estimate = LabPlanes(l: [50, 50], a: [0, 30], b: [0, 40])
        var errors = ABErrors()
        try errors.add(reference: reference, estimate: estimate, weights: [1, 3])
        #expect(errors.mean == 37.5)
        #expect(errors.cumulative[49] == 0.25)
        #expect(errors.cumulative[50] == 1)
    }

    @Test func rareColorsCountAsMuchAsCommonOnes() throws {
        // Nine gray pixels that are right, one red one that is not.
        let reference = LabPlanes(
            l: [Float](repeating: 50, count: 10), a: [Float](repeating: 0, count: 9) + [60],
            b: [Float](repeating: 0, count: 10))
        let estimate = LabPlanes(
            l: reference.l, a: [Float](repeating: 0, count: 10), b: reference.b)
        var balanced = BalancedABErrors()
        try balanced.add(reference: reference, estimate: estimate)
        // Right within 60: thresholds 60…150 of 150, less the half of the first one.
        #expect(abs(balanced.areaUnderCurve - (1 + 90.5 / 150) / 2) < 1e-12)
        var twice = balanced
        twice.add(balanced)
        #expect(twice.areaUnderCurve == balanced.areaUnderCurve)
        #expect(BalancedABErrors().areaUnderCurve.isNaN)
    }

    @Test func errorsBeyondTheLastThresholdCountAsMisses() throws {
        let reference = LabPlanes(l: [50, 50], a: [0, 0], b: [0, 0])
        let estimate = LabPlanes(l: [50, 50], a: [150.5, .nan], b: [0, 0])
        var errors = ABErrors()
        try errors.add(reference: reference, estimate: estimate)
        #expect(errors.areaUnderCurve == 0)
    }

    @Test func unusableImagesAreRefused() throws {
        let pixels = [UInt8](repeating: 7, count: 6 * 8 * 3)
        let empty = LabPlanes(l: [], a: [], b: [])
        #expect(throws: ColorScienceError.self) { try psnr(pixels, []) }
        #expect(throws: ColorScienceError.self) { try psnr([UInt8](), []) }
        #expect(throws: ColorScienceError.self) { try colorfulness(ofRGB: []) }
        #expect(throws: ColorScienceError.self) { try meanDeltaE2000(empty, empty) }
        #expect(throws: ColorScienceError.self) {
            try ChromaHueErrors(reference: empty, estimate: empty)
        }
        #expect(throws: ColorScienceError.self) {
            var groups = ABGroupErrors()
            try groups.add(reference: lab(fromRGB: pixels), estimate: empty)
        }
        #expect(throws: ColorScienceError.self) {
            try structuralSimilarity(pixels, pixels, width: 6, height: 8)
        }
        #expect(throws: ColorScienceError.self) {
            try structuralSimilarity(pixels, pixels, width: 9, height: 8)
        }
    }
}
