import RetintExport
import RetintGraph
import RetintMLPackage
import RetintTestSupport
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Bounds that follow from what float32 itself loses.
@Suite struct RoundingTests {
    @Test func theErrorOfAnExactValueIsItsRounding() {
        let exact = 20 * 24 * 0.3010299956639812
        #expect(abs(roundingRatio(exact, to: .infinity) - 1) < 1e-9)
        #expect(abs(roundingRatio(100, to: 120) - 10) < 1e-9)
        #expect(roundingRatio(.infinity, to: .infinity) == 0)
        #expect(roundingRatio(100, to: .nan).isNaN && roundingRatio(.nan, to: 100).isNaN)
    }

    /// What float32 loses in a network is between the rounding of its result and a tenth of a
    /// percent; each of its values has such an error.
    @Test func measuresWhatFloat32Loses() throws {
        let fixture = try Fixture()
        let (model, inputs) = (try fixture.model(), fixture.samples(1))
        let errors = try RoundingErrors(of: model, for: model, on: inputs)
        let output = try #require(errors.outputs["ab"])
        #expect(output.snr > 90 && output.snr < 150)
        #expect(errors.layers.count > 10 && errors.layers.allSatisfy { $0 > 90 })
    }

    /// A weight that is off by a thousandth of the range fails the model, though the outputs hardly
    /// change, and the report names its operation; also in a package without records, whose values
    /// before the fault are exact.
    @Test(arguments: [true, false]) func aSmallFaultIsFoundAndNamed(isRecorded: Bool) throws {
        let fixture = try Fixture()
        var options = ExportOptions(size: 64)
        options.foldsBatchNorm = isRecorded
        let exported = try fixture.package(options).package
        let (model, inputs) = (try fixture.model(), fixture.samples(1))
        var package = try #require(exported)
        if !isRecorded { package.description.metadata.userDefined["retint.values"] = nil }
        let passed = try Model(package, name: "right").verify(against: model, on: inputs)
        #expect(passed.passed && passed.firstDeparture == nil, "\(passed.outputs[0].failures)")
        #expect(passed.outputs[0].roundingRatio.map { ($0 > 0) == isRecorded && $0 < 4 } == true)

        let name = try package.spoil("conv", "weight", at: 0.3) { weight in
            var scalars = try weight.floats()
            scalars[0] += ((scalars.max() ?? 0) - (scalars.min() ?? 0)) / 1000
            return .floats(scalars, shape: weight.type.shape, as: .float32)
        }
        let report = try Model(package, name: "faulty").verify(against: model, on: inputs)
        #expect(!report.passed)
        #expect(report.layerFailures.count == 1 && report.layersDecide)
        let first = try #require(report.firstDeparture)
        #expect(report.layers[first.layer].value.name == name)
        let fixed = VerificationBounds.standard(
            .float32, compute: nil, isSameNetwork: true, measuresRounding: false)
        #expect(fixed.tolerance == Tolerance(atol: 1e-4, rtol: 1e-5))
    }

    /// A fault that the fixed bounds allow is found by what the arithmetic itself loses: of the
    /// reference network, or of the package where the expected values are those of a file.
    @Test(arguments: [ExportOptions.Precision.float32, .float16], [true, false])
    func aFaultWithinTheFixedBoundsIsFound(
        _ precision: ExportOptions.Precision, isFile: Bool
    ) throws {
        let fixture = try Fixture()
        var options = ExportOptions(size: 64)
        options.precision = precision
        let exported = try fixture.package(options).package
        let (model, inputs) = (try fixture.model(), fixture.samples(1))
        func report(_ package: MLPackage?) throws -> VerificationReport {
            let tested = try Model(#require(package), name: "tested")
            guard isFile else { return try tested.verify(against: model, on: inputs) }
            let lightness = try #require(try inputs.input(0).tensors.first).data
            return try tested.verify(against: Reference(running: model, on: lightness))
        }
        let right = try report(exported)
        #expect(right.passed, "\(right.failures)")

        var package = try #require(exported)
        _ = try package.spoil("conv", "weight", at: 1) { weight in
            var scalars = try weight.floats()
            let filter = scalars.indices.prefix(scalars.count / (weight.type.shape?[0] ?? 1))
            for index in filter { scalars[index] *= precision == .float32 ? 1.001 : 1.1 }
            return .floats(scalars, shape: weight.type.shape, as: weight.type.dataType)
        }
        let wrong = try report(package)
        let output = wrong.outputs[0]
        #expect(output.metrics.psnr > (precision == .float32 ? 100 : 60))
        let text = precision == .float32 ? "float32" : "half precision"
        #expect(
            output.failures.contains { $0.contains(text) },
            "\(output.metrics.psnr) \(output.roundingRatio ?? output.halfRatio ?? .nan)")
    }

    /// Where half precision is exact, or overflows, the fixed bound alone decides.
    @Test func onlyAKnownErrorOfHalfPrecisionIsABound() throws {
        let fixture = try Fixture()
        var options = ExportOptions(size: 64)
        options.precision = .float16
        let report = try fixture.package(options)
            .verify(against: fixture.model(), on: fixture.samples(1))
        let output = report.outputs[0]
        #expect(output.halfRatio.map { $0 > 0.1 && $0 < 4 } == true)
        let strict = Tolerance(minPSNR: 20, maxHalfRatio: 0.01)
        #expect(output.judged(by: strict).failures.count == 1)
        let exact = VerificationReport.ErrorMetrics(computed: [1], expected: [1], peak: 1)
        for half in [nil, exact] {
            let other = VerificationReport.Output(
                name: "ab", shape: output.shape, metrics: output.metrics, peak: output.peak,
                largest: output.largest, nonFinite: nil, half: half, rounding: nil, sha256: nil,
                unitChange: nil, frontier: output.frontier, tolerance: strict)
            #expect(other.failures.isEmpty)
            let alone = other.judged(by: Tolerance(maxHalfRatio: 0.01))
            #expect(alone.failures.count == 1)
        }
    }

    /// What was measured is saved, and judged again.
    @Test func ratiosAreSaved() throws {
        let fixture = try Fixture()
        let report = try fixture.package(ExportOptions(size: 64))
            .verify(against: fixture.model(), on: fixture.samples(1))
        let environment = VerificationResults.Environment(retint: "0", processor: "none")
        let path = fixture.scratch.path("results.json")
        try VerificationResults([report], environment: environment).write(to: path)
        let saved = try #require(VerificationResults(contentsOf: path).reports.first)
        #expect(saved.outputs[0].roundingRatio == report.outputs[0].roundingRatio)
        #expect(saved.passed && saved.tolerance.maxRoundingRatio != nil)
        let strict = saved.judged(
            by: VerificationBounds(
                tolerance: Tolerance(maxRoundingRatio: 1e-3),
                layerTolerance: LayerTolerance(maxRoundingRatio: 1e-3), layersDecide: true))
        #expect(!strict.passed && strict.outputs[0].failures.count == 1)
        #expect(strict.layerFailures.count == 1)
    }
}
