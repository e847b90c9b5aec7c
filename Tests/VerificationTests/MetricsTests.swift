import Foundation
import RetintGraph
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import RetintVerification
import Testing

@testable import RetintRuntime

@Suite struct MetricsTests {
    /// Against numpy and scikit-image; see Goldens/metrics.py.
    @Test(arguments: ["small", "batch", "coarse", "opposite"])
    func agreesWithNumpy(_ name: String) throws {
        let reader = try HDF5Reader(path: goldenPath("metrics.h5"))
        func data(_ part: String) throws -> TensorData {
            try #require(try reader.read("\(name)/\(part)").tensorData)
        }
        let (computed, expected) = try (data("computed"), data("expected"))
        let metrics = VerificationReport.ErrorMetrics(
            computed: computed.scalars, expected: expected.scalars, peak: 220)
        let color = try #require(
            try VerificationReport.ColorDifference(
                lightness: data("lightness"), computed: computed, expected: expected))
        let found = [
            metrics.maxAbs, metrics.meanAbs, metrics.maxRelative, metrics.psnr, metrics.snr,
            metrics.cosine, color.mean, color.percentile99, metrics.percentile99,
        ]
        for (value, wanted) in zip(found, try data("metrics").scalars) {
            #expect(abs(value - Double(wanted)) <= 1e-5 * abs(Double(wanted)))
        }
    }

    @Test func closedForms() {
        let metrics = VerificationReport.ErrorMetrics(
            computed: [3, 0, 1, 5], expected: [1, 0, 1, 5], peak: 10)
        #expect(metrics.maxAbs == 2 && metrics.meanAbs == 0.5 && metrics.maxRelative == 2)
        #expect(abs(metrics.psnr - 20) < 1e-12)
        #expect(abs(metrics.snr - 10 * log10(27 / 4)) < 1e-12)
        #expect(abs(metrics.cosine - 29 / (35 * 27).squareRoot()) < 1e-12)
    }

    @Test func equalValuesHaveNoNoise() {
        for values: [Float] in [[1, -2, 3], [0, 0, 0]] {
            let metrics = VerificationReport.ErrorMetrics(
                computed: values, expected: values, peak: 220)
            #expect(metrics.maxAbs == 0 && metrics.meanAbs == 0 && metrics.maxRelative == 0)
            #expect(metrics.psnr == .infinity && metrics.snr == .infinity)
            #expect(abs(metrics.cosine - 1) < 1e-15)
        }
    }

    @Test func zerosAgainstOtherValues() {
        let metrics = VerificationReport.ErrorMetrics(
            computed: [0, 0], expected: [3, 4], peak: 220)
        #expect(metrics.cosine == 0 && metrics.snr == 0 && metrics.maxRelative == 1)
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity])
    func nonFiniteValuesHaveNoMetrics(_ value: Float) {
        let metrics = VerificationReport.ErrorMetrics(
            computed: [1, value], expected: [1, 2], peak: 220)
        #expect(metrics.maxAbs.isNaN && metrics.psnr.isNaN && metrics.cosine.isNaN)
    }

    @Test func findsTheFirstNonFiniteValue() throws {
        var data = TensorData(shape: [2, 2, 2, 3], repeating: 0)
        #expect(NonFinite(in: data) == nil)
        (data.scalars[17], data.scalars[23]) = (.nan, .infinity)
        let found = try #require(NonFinite(in: data))
        #expect(found.count == 2 && found.nan == 1 && found.first == [1, 0, 1, 2])
    }

    @Test func interpolatesPercentiles() {
        #expect(percentile([4, 1, 3, 2], 0.5) == 2.5)
        #expect(percentile([7], 0.99) == 7)
        #expect(abs(percentile((0...100).map(Float.init), 0.99) - 99) < 1e-9)
    }

    /// Whatever the order of the values, and however many are equal.
    @Test(arguments: [1, 2, 99, 100, 101, 5000, 20_000])
    func keepsOnlyTheTopForAPercentile(_ count: Int) {
        var random = SystemRandomNumberGenerator()
        let values = (0..<count).map { _ in Float(Int.random(in: 0..<count, using: &random)) }
        for values in [values, values.sorted(), values.sorted(by: >)] {
            let position = 0.99 * Double(count - 1)
            let (below, sorted) = (Int(position), values.sorted())
            let above = min(below + 1, count - 1)
            let share = position - Double(below)
            let expected = Double(sorted[below]) * (1 - share) + Double(sorted[above]) * share
            #expect(abs(percentile(values, 0.99) - expected) < 1e-9)
        }
    }

    @Test func onlyBoundsOnOutputsCount() {
        #expect(Tolerance().isEmpty && !Tolerance(atol: 0.5, rtol: 0.1).isEmpty)
        #expect(!Tolerance(minPSNR: 1).isEmpty)
    }

    /// A bound of another kind replaces the default one.
    @Test func boundsOfOtherNetworksAreReplaced() {
        let single = Tolerance.standard(.float32, isSameNetwork: true, isColorizer: false)
        #expect(single == Tolerance(maxRelative: 1e-4, maxRoundingRatio: 4))
        #expect(single.replacing(with: Tolerance(atol: 1)) == Tolerance(atol: 1))
        let half = Tolerance.standard(.float16, isSameNetwork: true, isColorizer: false)
        #expect(half == Tolerance(minSNR: 30, maxHalfRatio: 8))
        #expect(half.replacing(with: Tolerance(minPSNR: 50)) == Tolerance(minPSNR: 50))
        let both = Tolerance(minPSNR: 50, minSNR: 20)
        #expect(half.replacing(with: both) == both)
        #expect(
            Tolerance.standard(.quantized, isSameNetwork: true, isColorizer: false)
                == Tolerance(minSNR: 15))
    }

    @Test func standardBounds() {
        let half = Tolerance.standard(.float16, isSameNetwork: true)
        #expect(half == Tolerance(minPSNR: 60, maxHalfRatio: 8))
        #expect(half.replacing(with: Tolerance(minPSNR: 70)) == Tolerance(minPSNR: 70))
        #expect(
            half.replacing(with: Tolerance(meanDeltaE: 1))
                == Tolerance(minPSNR: 60, meanDeltaE: 1, maxHalfRatio: 8))
        #expect(
            Tolerance(maxHalfRatio: 2).replacing(with: Tolerance(minPSNR: 70))
                == Tolerance(minPSNR: 70, maxHalfRatio: 2))
        #expect(
            Tolerance.standard(.float16, isSameNetwork: true, measuresRounding: false)
                == Tolerance(minPSNR: 60))
        #expect(
            Tolerance.standard(.float32, isSameNetwork: false)
                == Tolerance(atol: 0.01, rtol: 0, meanAbs: 0.001, maxRoundingRatio: 16))
        #expect(
            Tolerance.standard(.float32, isSameNetwork: false, isColorizer: false)
                == Tolerance(maxRelative: 1e-4, maxRoundingRatio: 16))
        #expect(
            Tolerance.standard(.float32, isSameNetwork: true, measuresRounding: false)
                == Tolerance(atol: 1e-4, rtol: 1e-5))
        let measured = Tolerance.standard(.float32, isSameNetwork: true)
        #expect(measured == Tolerance(minPSNR: 120, maxRoundingRatio: 4))
        #expect(measured.replacing(with: Tolerance(atol: 1)) == Tolerance(atol: 1))
        #expect(
            measured.replacing(with: Tolerance(meanDeltaE: 1))
                == Tolerance(minPSNR: 120, meanDeltaE: 1, maxRoundingRatio: 4))
        let changed = Tolerance.standard(.float32, isSameNetwork: false)
            .replacing(with: Tolerance(atol: 2, minPSNR: 30))
        #expect(changed == Tolerance(atol: 2, rtol: 0, minPSNR: 30))
        let quantized = Tolerance.standard(.quantized, isSameNetwork: true)
        #expect(
            quantized.replacing(with: Tolerance(minSNR: 9, meanDeltaE: 2))
                == Tolerance(minPSNR: 38, minSNR: 9, meanDeltaE: 2))
        #expect(quantized.replacing(with: Tolerance(minPSNR: 40)) == Tolerance(minPSNR: 40))
    }
}
