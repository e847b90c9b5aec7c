import RetintRuntime
import Testing

@testable import RetintVerification

/// Figures in failure messages and tolerances.
@Suite struct FigureTests {
    @Test(arguments: [
        (1.1593066918856607, 1, "1.159"), (37.98765, 38, "37.99"), (0.00123456, 0.001, "0.001235"),
        (12345.678, 1, "12346"), (0, 1, "0"), (-0.5, 0, "-0.5"), (9.99996, 1, "10"),
        (.infinity, 1, "∞"), (.nan, 1, "NaN"), (1e-30, 0, "1e-30"),
    ])
    func haveFourSignificantDigits(_ value: Double, _ bound: Double, _ text: String) {
        #expect(figure(value, bound) == text)
    }

    /// A value just past its bound does not read as equal to the bound or as within it.
    @Test(arguments: [
        (1.00002, 1, "1.00002"), (37.99996, 38, "37.99996"), (1.0001, 1.00005, "1.0001"),
        (1.000049, 1.00003, "1.00005"),
    ])
    func stayOnTheirSideOfTheBound(_ value: Double, _ bound: Double, _ text: String) {
        #expect(figure(value, bound) == text)
    }

    @Test func tolerancesAreShort() {
        #expect(
            "\(Tolerance(atol: 1e-4, rtol: 0, meanAbs: 0.001))"
                == "|error| ≤ 0.0001 + 0·|expected|, mean |error| ≤ 0.001")
        #expect("\(Tolerance(minPSNR: 38, meanDeltaE: 1))" == "PSNR ≥ 38 dB, mean ΔE2000 ≤ 1")
        #expect("\(LayerTolerance(minSNR: 22.5))" == "SNR ≥ 22.5 dB")
    }

    @Test func failuresAreRounded() {
        let report = VerificationReport(
            judge: .retint, runtime: "engine", model: "model", reference: "reference",
            isSameNetwork: true, isColorizer: true, precision: .quantized,
            compute: .float16,
            tolerance: Tolerance(meanDeltaE: 1), outputs: [],
            color: VerificationReport.ColorDifference(mean: 1.1593066918856607, percentile99: 4),
            photos: [],
            layers: [], layerTolerance: LayerTolerance(), layersDecide: false)
        #expect(report.colorFailures == ["the mean ΔE2000 1.159 is above 1"])
    }
}
