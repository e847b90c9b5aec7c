import RetintExport
import RetintGraph
import RetintTensors
import RetintVerification
import Testing

@testable import RetintRuntime

@Suite struct VerificationTests {
    @Test func aCheckpointPassesAgainstItself() throws {
        let fixture = try Fixture()
        let report = try fixture.model().verify(against: fixture.reference())
        #expect(report.passed)
        let output = try #require(report.outputs.first)
        #expect(output.shape == [1, 2, 64, 64] && output.peak == 220)
        #expect(output.metrics.maxAbs == 0 && output.metrics.psnr == .infinity)
        #expect(report.color?.mean == 0)
    }

    @Test(arguments: ExportOptions.Input.allCases, ExportOptions.Output.allCases)
    func aFloat32PackageIsItsCheckpoint(
        _ input: ExportOptions.Input, _ output: ExportOptions.Output
    ) throws {
        let fixture = try Fixture()
        let model = try fixture.package(ExportOptions(input: input, output: output, size: 64))
        #expect(model.precision == .float32 && model.computePrecision == .float32)
        let bounds = Tolerance.standard(.float32, isSameNetwork: true)
        let report = try model.verify(
            against: fixture.reference(), options: .init(tolerance: bounds))
        #expect(report.passed)
        #expect(report.outputs.map(\.name) == ["ab"])
        #expect(report.color != nil)
    }

    @Test(arguments: ComputePrecision.allCases)
    func aFloat16PackageIsClose(_ compute: ComputePrecision) throws {
        let fixture = try Fixture()
        let model = try fixture.package(ExportOptions(precision: .float16, size: 64))
        #expect(model.precision == .float16 && model.computePrecision == .float16)
        let report = try model.verify(
            against: fixture.reference(), options: .init(compute: compute))
        #expect(report.passed && report.tolerance == Tolerance(minPSNR: 60, maxHalfRatio: 8))
        let metrics = try #require(report.outputs.first).metrics
        #expect(metrics.maxAbs > 0 && metrics.psnr.isFinite)
    }

    /// Without a tolerance, the library judges as the command does.
    @Test func theDefaultBoundsAreThoseOfTheCommand() throws {
        let fixture = try Fixture()
        let package = try fixture.package(ExportOptions(size: 64))
        let (model, samples) = (try fixture.model(), fixture.samples(1))
        let own = try package.verify(against: model, on: samples)
        #expect(own.tolerance == .standard(.float32, isSameNetwork: true) && own.passed)
        let file = try package.verify(against: fixture.reference())
        #expect(file.tolerance == .standard(.float32, isSameNetwork: false) && file.passed)
        let half = try package.verify(
            against: model, on: samples, options: .init(compute: .float16))
        #expect(half.tolerance == .standard(.float16, isSameNetwork: true))
        #expect(half.layerTolerance.minSNR == 30 && half.passed)
    }

    @Test func halfArithmeticShows() throws {
        let fixture = try Fixture()
        let report = try fixture.model().verify(
            against: fixture.reference(), options: .init(compute: .float16))
        #expect(try #require(report.outputs.first).metrics.maxAbs > 0)
    }

    @Test func splitReferenceJointModel() throws {
        let fixture = try Fixture()
        let split = try fixture.package(ExportOptions(output: .split, size: 64))
        let reference = try Reference(running: split, on: fixture.lightness)
        #expect(reference.outputs.map(\.name) == ["output_a", "output_b"])
        #expect(try fixture.model().verify(against: reference).passed)
        let report = try split.verify(against: reference)
        #expect(report.passed && report.outputs.map(\.name) == ["output_a", "output_b"])
        #expect(report.color?.mean == 0)
    }

    @Test func imagesRunOneByOne() throws {
        let fixture = try Fixture()
        let package = try fixture.package(ExportOptions(size: 64))
        let reference = try Reference(running: fixture.model(), on: lightnessOf([3, 1, 64, 64]))
        #expect(reference.outputs[0].data.shape == [3, 2, 64, 64])
        let report = try package.verify(against: reference)
        #expect(report.passed && report.color != nil)
    }

    @Test func aDeviatingValueFails() throws {
        let fixture = try Fixture()
        let reference = try fixture.reference()
        var output = reference.outputs[0].data
        output.scalars[77] += 1
        let changed = try reference.with([NamedTensor("ab", output)])
        let report = try fixture.model().verify(against: changed)
        #expect(!report.passed)
        let rules = report.outputs[0].checks.filter { $0.failure != nil }.map(\.rule)
        #expect(rules == [.eachValue, .roundingRatio])
        #expect(abs(report.outputs[0].metrics.maxAbs - 1) < 1e-5)
        let loose = Tolerance(atol: 1.1)
        let options = VerificationOptions(tolerance: loose)
        #expect(try fixture.model().verify(against: changed, options: options).passed)
    }

    @Test func withoutBoundsNothingPasses() throws {
        let fixture = try Fixture()
        let report = try fixture.model().verify(
            against: fixture.reference(),
            options: .init(tolerance: Tolerance()))
        #expect(!report.passed)
    }

    @Test func nonFiniteOutputsFail() throws {
        let fixture = try Fixture()
        var checkpoint = fixture.checkpoint
        let name = try #require(checkpoint.state.names.first { $0.hasSuffix("weight") })
        let weight = try #require(checkpoint.state[name])
        let nans = [Float](repeating: .nan, count: weight.shape.count)
        checkpoint.state[name] = .init(shape: weight.shape, floats: nans)
        let reference = try fixture.reference()
        try checkpoint.write(to: fixture.path)
        let loose = Tolerance(atol: .infinity)
        let report = try fixture.model().verify(
            against: reference, options: .init(tolerance: loose))
        #expect(!report.passed)
        let output = try #require(report.outputs.first)
        #expect(try #require(output.nonFinite).count > 0 && output.metrics.maxAbs.isNaN)
        #expect(report.color == nil)
    }

    @Test func shapesAndNamesMustFit() throws {
        let fixture = try Fixture()
        let reference = try fixture.reference()
        let ab = reference.outputs[0].data
        let flat = TensorData(shape: [1, 2, 32, 128], scalars: ab.scalars)
        let package = try fixture.package(ExportOptions(size: 64))
        for outputs in [
            [NamedTensor("ab", flat)], [NamedTensor("ab", ab), NamedTensor("classes", ab)],
        ] {
            let wrong = try reference.with(outputs)
            for model in [try fixture.model(), package] {
                let error = #expect(throws: VerificationError.self) {
                    try model.verify(against: wrong)
                }
                #expect(error?.kind == .mismatch)
            }
        }
    }

    @Test func inputsMustFit() throws {
        let fixture = try Fixture()
        let package = try fixture.package(ExportOptions(size: 64))
        let outputs = try fixture.reference().outputs
        for shape: Shape in [[1, 1, 60, 60], [1, 3, 64, 64], [64, 64]] {
            let reference = try Reference(
                name: "r", inputs: [NamedTensor("L", lightnessOf(shape))], outputs: outputs)
            for model in [try fixture.model(), package] {
                let error = #expect(throws: VerificationError.self) {
                    try model.verify(against: reference)
                }
                #expect(error?.kind == .badModel)
            }
        }
        let two = [NamedTensor("L", fixture.lightness), NamedTensor("hint", fixture.lightness)]
        let reference = try Reference(name: "r", inputs: two, outputs: outputs)
        let error = #expect(throws: VerificationError.self) {
            try fixture.model().verify(against: reference)
        }
        #expect(error?.kind == .mismatch)
    }
}
