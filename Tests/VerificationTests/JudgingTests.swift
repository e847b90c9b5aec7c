import RetintExport
import RetintGraph
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Results checked against other bounds than those of their run.
@Suite struct JudgingTests {
    private let fixture: Fixture
    private let model: Model
    private let environment = VerificationResults.Environment(retint: "1", processor: "<&\"\u{1}")

    init() throws {
        fixture = try Fixture()
        model = try fixture.package(ExportOptions(precision: .float16, size: 64))
    }

    private func run(_ bounds: VerificationBounds) throws -> VerificationReport {
        try model.verify(
            against: fixture.model(), on: fixture.samples(2),
            options: VerificationOptions(bounds: bounds))
    }

    private static let wide = VerificationBounds(
        tolerance: Tolerance(atol: 1e6, meanAbs: 1e6), layerTolerance: LayerTolerance(minSNR: 1))

    /// Judging gives what a run with the same bounds gives, from a file too.
    @Test(arguments: [
        VerificationBounds(
            tolerance: Tolerance(atol: 0, rtol: 1e-5), layerTolerance: LayerTolerance(minSNR: 1)),
        VerificationBounds(
            tolerance: Tolerance(atol: 0, rtol: 10, minPSNR: 50, minSNR: 200, meanDeltaE: 1e-6),
            layerTolerance: LayerTolerance(maxRelative: 1e-4), layersDecide: true),
        VerificationBounds(
            tolerance: Tolerance(meanAbs: 0), layerTolerance: LayerTolerance(minSNR: 60),
            layersDecide: true),
    ])
    func isThatOfARun(_ bounds: VerificationBounds) throws {
        let path = fixture.scratch.path("results.json")
        let first = try run(Self.wide)
        #expect(first.passed)
        try VerificationResults([first], environment: environment).write(to: path)
        let saved = try VerificationResults(contentsOf: path)
        #expect(saved.passed && saved.environment == environment)
        let (judged, second) = (saved.reports[0].judged(by: bounds), try run(bounds))
        #expect(!second.passed && judged.passed == second.passed)
        #expect(judged.checks == second.checks && judged.bounds == bounds)
        #expect(judged.outputs == second.outputs && judged.color == second.color)
        #expect(judged.photos == second.photos)
        #expect(judged.layers.map(\.error) == second.layers.map(\.error))
        #expect(judged.layers.map(\.value) == second.layers.map(\.value))
        #expect(judged.layers.map(\.range) == second.layers.map(\.range))
        #expect(judged.firstDeparture == second.firstDeparture)
        #expect(judged.judged(by: Self.wide).passed)
    }

    /// The bound on each value is that of the whole tensors.
    @Test func boundsOnEachValueAddUp() throws {
        let report = try fixture.compared([11.5, 11.6, 0.6, -9], with: [10, 10, 0, -10])
        func passes(_ atol: Double, _ rtol: Double) -> Bool {
            let tolerance = Tolerance(atol: atol, rtol: rtol)
            return report.judged(by: tolerance).failures.isEmpty
        }
        #expect(!passes(0.5, 0.1) && passes(0.61, 0.11) && !passes(0.59, 5) && !passes(0.7, 0.05))
        #expect(!passes(1.5, 0) && passes(1.7, 0))
        let failure = report.judged(by: Tolerance(atol: 0.25, rtol: 0.125)).failures
        #expect(
            failure == [
                "a value is farther off than the tolerance allows: |error| 0.6 instead of 0.25, "
                    + "where |expected| is 0"
            ])
    }

    @Test(
        arguments: [
            ([0, 255, 127.5, 63.75], "the values are 255 times those expected, to 140 dB"),
            (
                [-1, 1, 0, -0.5],
                "are 2 times those expected minus 1, to 140 dB: their unit or range"
            ),
            (
                [0.1, 1.1, 0.6, 0.35],
                "the values are those expected plus 0.1, to 140 dB: a bias differs, or an offset"
            ),
            // Without the factor, it is 10 dB.
            ([0.001, 1.3, 0.65, 0.32], "are 1.301 times those expected, to 48."),
            // Errors, not units: too small a factor, and too much that is left.
            ([0, 1.005, 0.5025, 0.25125], nil),
            ([0.1, 2, 0.9, 0.6], nil),
            ([0.5, 0.5, 0.5, 0.5], nil),
        ] as [([Float], String?)])
    func aUnitThatDiffersIsNamed(_ computed: [Float], _ text: String?) throws {
        let report = try fixture.compared(computed, with: [0, 1, 0.5, 0.25])
        let failure = try #require(report.judged(by: Tolerance(minPSNR: 300)).failures.first)
        #expect(text.map(failure.contains) ?? !failure.contains("unit"), "\(failure)")
        #expect(report.judged(by: Tolerance(atol: 1e3)).failures.isEmpty)
    }

    @Test func nonFiniteValuesAreKept() throws {
        let report = try fixture.compared([1, .nan, .infinity, 2], with: [1, 2, 3, 4])
        #expect(report.checks.count == 1 && report.failures.count == 1)
        let loose = report.judged(by: Tolerance(atol: 1e9))
        #expect(loose.failures == report.failures)
        let expected = try fixture.compared([1, 2, 3, 4], with: [1, .infinity, 3, 4])
        #expect(expected.judged(by: Tolerance(atol: 1e9)).failures == ["the errors are not finite"])
    }

    @Test func everyCheckDecides() throws {
        let bounds = VerificationBounds(
            tolerance: Tolerance(minPSNR: 1, meanDeltaE: 100),
            layerTolerance: LayerTolerance(maxRelative: 1, minSNR: 1), layersDecide: true)
        let report = try run(bounds)
        let counts = Dictionary(grouping: report.checks, by: \.rule).mapValues(\.count)
        let layers = report.comparedCount
        #expect(
            counts == [
                .finite: report.outputs.count, .psnr: report.outputs.count, .meanDeltaE: 1,
                .layerError: layers, .layerSNR: layers,
            ])
        #expect(report.passed == report.checks.allSatisfy { $0.failure == nil })
    }
}

extension Fixture {
    /// The comparison of one output of four values.
    fileprivate func compared(
        _ computed: [Float], with expected: [Float]
    ) throws -> VerificationReport.Output {
        func data(_ scalars: [Float]) -> TensorData { TensorData(shape: [1, 4], scalars: scalars) }
        let pair = OutputPair(name: "y", computed: data(computed), expected: data(expected))
        var gathering = OutputGathering(pair, runs: 1, peak: 1, tolerance: Tolerance())
        gathering.add(pair)
        return gathering.comparison()
    }
}
