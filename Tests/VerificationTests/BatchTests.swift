import RetintExport
import RetintGraph
import RetintTensors
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Several images in separate runs, with figures over all of them.
@Suite struct BatchTests {
    @Test func figuresCoverAllImages() throws {
        let fixture = try Fixture()
        let package = try fixture.package(ExportOptions(precision: .float16, size: 64))
        let samples = fixture.samples(3)
        let report = try package.verify(against: fixture.model(), on: samples)
        let inputs = try (0..<3).map { try samples.input($0).tensors }
        let computed = try joinedBatches(inputs.map { try package.run($0, compute: .float16) })[0]
            .data
        let expected = try joinedBatches(inputs.map { try fixture.model().run($0) })[0].data
        let output = try #require(report.outputs.first)
        #expect(output.shape == [3, 2, 64, 64])
        let whole = VerificationReport.ErrorMetrics(
            computed: computed.scalars, expected: expected.scalars, peak: 220)
        #expect(output.metrics == whole)
        let color = try #require(
            try VerificationReport.ColorDifference(
                lightness: joinedBatches(inputs)[0].data, computed: computed, expected: expected))
        let found = try #require(report.color)
        #expect(abs(found.mean - color.mean) < 1e-12)
        #expect(found.percentile99 == color.percentile99)
        #expect(report.photos.map(\.photo) == ["image 0", "image 1", "image 2"])
        let means = report.photos.map(\.difference.mean)
        #expect(abs(means.reduce(0, +) / 3 - color.mean) < 1e-9)
        #expect(report.worstPhoto?.difference.mean == means.max())
    }

    @Test func layerErrorsCoverAllImages() throws {
        let fixture = try Fixture()
        let package = try fixture.package(ExportOptions(precision: .float16, size: 64))
        let all = try package.verify(against: fixture.model(), on: fixture.samples(3))
        let singles = try (0..<3).map { index in
            let one = VerificationInputs(count: 1) { _ in try fixture.samples(3).input(index) }
            return try package.verify(against: fixture.model(), on: one)
        }
        for index in all.layers.indices {
            let (error, range) = (all.layers[index].error, all.layers[index].range)
            let parts = singles.compactMap { $0.layers[index].error }
            #expect(error?.maxAbs == parts.map(\.maxAbs).max())
            let mean = parts.map(\.meanAbs).reduce(0, +) / 3
            #expect(abs((error?.meanAbs ?? 0) - mean) <= 1e-9 * mean)
            #expect(range.largest == singles.map { $0.layers[index].range.largest }.max())
        }
    }

    /// Each image of a reference file is compared with its own activations.
    @Test func activationsOfSeveralImages() throws {
        let fixture = try Fixture()
        let samples = fixture.samples(2)
        let inputs = try (0..<2).map { try samples.input($0).tensors }
        let model = try fixture.model().program(on: inputs[0])
        let values = try inputs.map { input in
            var run = try model.start(input)
            var stem: TensorData?
            while let next = run.next() {
                for value in next where model.values[value.index].name == "stem.2.relu" {
                    stem = value.data
                }
            }
            return [NamedTensor("stem", try #require(stem))]
        }
        let path = try fixture.write([
            ("inputs/L", joinedBatches(inputs)[0].data),
            ("outputs/ab", joinedBatches(try inputs.map { try fixture.model().run($0) })[0].data),
            ("activations/stem", joinedBatches(values)[0].data),
        ])
        let report = try fixture.model().verify(against: Reference(contentsOf: path))
        #expect(report.passed && report.comparedCount == 1 && report.photos.count == 2)
        #expect(report.layers.compactMap(\.error).allSatisfy { $0.maxAbs == 0 })
    }

    @Test func observedValuesAreThoseOfTheNetwork() throws {
        let fixture = try Fixture()
        let values = try fixture.values()
        let graph = Graph(mode: .inference)
        let network = try fixture.checkpoint.network.make()
        let ab = network(graph.input("L", [1, 1, 64, 64]))
        let traced = graph.tracedValues(for: [ab])
        #expect(traced.count > 100 && Set(traced.map(\.description.name)).count == values.count)
        for value in traced where value.description.module.hasPrefix("stage8") {
            let alone = try value.tensor.evaluate(
                inputs: ["L": fixture.lightness], variables: fixture.checkpoint.variables)
            let observed = try #require(values[value.description.name])
            let sums = VerificationReport.ErrorMetrics(
                computed: observed.scalars, expected: alone.scalars, peak: 1)
            #expect(sums.snr > 120, "\(value.description.name)")
        }
    }
}
