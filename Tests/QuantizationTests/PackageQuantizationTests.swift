import RetintExport
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTestSupport
import Testing

@testable import RetintQuantization

/// Compressed packages: written, read back and run.
@Suite struct PackageQuantizationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let weights: String
        var granularity: QuantizationScheme.Granularity?
        var mode = QuantizationScheme.Mode.symmetric
        var target = ExportOptions.Target.iOS16
        var precision = ExportOptions.Precision.float32
        var sparsity = 0.0
        var pruning = QuantizationScheme.Pruning.single
        /// The maximum size of the weights relative to before.
        let share: Double
        /// The minimum PSNR of the output, in dB.
        let psnr: Double

        var testDescription: String {
            "\(weights) \(granularity?.rawValue ?? "") \(mode) \(target) \(precision) \(sparsity)"
        }
    }

    static let cases: [Case] = [
        Case(weights: "float16", share: 0.501, psnr: 80),
        Case(weights: "float16", target: .iOS18, share: 0.501, psnr: 80),
        Case(weights: "int8", share: 0.27, psnr: 50),
        Case(weights: "int8", granularity: .perTensor, share: 0.26, psnr: 45),
        Case(weights: "int8", mode: .linear, target: .iOS17, share: 0.27, psnr: 50),
        Case(weights: "uint8", share: 0.27, psnr: 50),
        Case(weights: "uint8", mode: .linear, target: .iOS18, share: 0.27, psnr: 50),
        Case(weights: "int8", target: .iOS18, precision: .float16, share: 0.54, psnr: 50),
        Case(weights: "int4", target: .iOS18, share: 0.15, psnr: 25),
        Case(weights: "int4", granularity: .perBlock, target: .iOS18, share: 0.26, psnr: 25),
        Case(weights: "uint4", mode: .linear, target: .iOS18, share: 0.16, psnr: 25),
        Case(weights: "palette8", share: 0.35, psnr: 50),
        Case(weights: "palette6", share: 0.21, psnr: 35),
        Case(weights: "palette4", precision: .float16, share: 0.3, psnr: 25),
        Case(weights: "palette4", granularity: .perGroup, target: .iOS18, share: 0.2, psnr: 25),
        Case(weights: "palette3", target: .iOS18, share: 0.11, psnr: 18),
        Case(weights: "palette2", target: .iOS18, share: 0.08, psnr: 10),
        Case(weights: "palette1", share: 0.05, psnr: 5),
        Case(weights: "unchanged", sparsity: 0.5, share: 0.54, psnr: 25),
        Case(weights: "unchanged", target: .iOS18, sparsity: 0.5, share: 0.54, psnr: 25),
        Case(weights: "unchanged", sparsity: 0.5, pruning: .blocks(of: 4), share: 0.54, psnr: 8),
        Case(weights: "unchanged", pruning: .ratio(zeros: 2, of: 4), share: 0.58, psnr: 20),
        Case(
            weights: "int8", target: .iOS18, pruning: .ratio(zeros: 2, of: 4), share: 0.22,
            psnr: 20),
        Case(weights: "int8", target: .iOS18, sparsity: 0.5, share: 0.18, psnr: 25),
        Case(weights: "uint8", target: .iOS18, sparsity: 0.25, share: 0.25, psnr: 30),
        Case(weights: "palette4", target: .iOS18, sparsity: 0.5, share: 0.12, psnr: 20),
    ]

    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func export(
        _ target: ExportOptions.Target, _ precision: ExportOptions.Precision = .float32
    ) throws -> String {
        try scratch.export(target, precision)
    }

    private func scheme(_ example: Case) throws -> QuantizationScheme {
        var scheme = QuantizationScheme(
            QuantizationScheme.Weights(example.weights) ?? .unchanged,
            granularity: example.granularity)
        scheme.mode = example.mode
        (scheme.sparsity, scheme.pruning) = (example.sparsity, example.pruning)
        scheme.blockSize = 8
        return scheme
    }

    @Test(arguments: cases)
    func compressesAndRuns(_ example: Case) throws {
        let source = try export(example.target, example.precision)
        let target = scratch.path("small.mlpackage")
        let report = try quantizePackage(
            at: source, to: target, plan: QuantizationPlan(try scheme(example)))
        #expect(report.compressed.count >= 20)
        let (before, after) = (
            report.compressed.reduce(0) { $0 + $1.bytesBefore },
            report.compressed.reduce(0) { $0 + $1.bytesAfter }
        )
        #expect(Double(after) <= example.share * Double(before))
        // The others count as well, so that schemes for few weights do not look small.
        let rest = report.skipped.reduce(0) { $0 + $1.bytes }
        #expect(rest > 0 && report.bytesBefore == before + rest)
        #expect(report.bytesAfter == after + rest)
        #expect(try psnr(colors(of: target), colors(of: source)) >= example.psnr)
        let text = try MLPackage(contentsOf: target).description.metadata.userDefined
        #expect(text["retint.weights"] == "\(try scheme(example))")
    }

    @Test func sameBytes() throws {
        let source = try export(.iOS18)
        for name in ["first", "second"] {
            try _ = quantizePackage(
                at: source, to: scratch.path("\(name).mlpackage"),
                plan: QuantizationPlan(QuantizationScheme(.palette(bits: 4))))
        }
        #expect(
            try contents(ofFolder: scratch.path("first.mlpackage"))
                == contents(ofFolder: scratch.path("second.mlpackage")))
    }

    static let refusals: [(QuantizationScheme, ExportOptions.Target, String)] = [
        (QuantizationScheme(.int4), .iOS17, "needs iOS18"),
        (QuantizationScheme(.palette(bits: 3)), .iOS16, "needs iOS18"),
        (QuantizationScheme(.int8, granularity: .perBlock), .iOS16, "needs iOS18"),
        (QuantizationScheme(.int8, granularity: .perGroup), .iOS18, "takes per-tensor"),
        (QuantizationScheme(.palette(bits: 4), granularity: .perChannel), .iOS18, "per-group"),
    ]

    @Test(arguments: refusals)
    func refuses(
        _ scheme: QuantizationScheme, _ target: ExportOptions.Target, _ words: String
    ) throws {
        let source = try export(target)
        let error = try #require(throws: ConversionError.self) {
            try quantizePackage(
                at: source, to: scratch.path("x.mlpackage"), plan: QuantizationPlan(scheme))
        }
        #expect(error.description.contains(words) && error.kind == .option)
        #expect(try scratch.names() == ["float.mlpackage"])
    }

    static let raisings: [(QuantizationScheme, DeploymentTarget)] = [
        (QuantizationScheme(.int8), .iOS16), (QuantizationScheme(.palette(bits: 4)), .iOS16),
        (QuantizationScheme(.int4, granularity: .perBlock), .iOS18),
    ]

    /// A package for iOS15, the default, is raised to the earliest target that supports the scheme.
    @Test(arguments: raisings)
    func raisesTheDefaultTarget(_ scheme: QuantizationScheme, _ target: DeploymentTarget) throws {
        let source = try export(.iOS15)
        let path = scratch.path("raised.mlpackage")
        let report = try quantizePackage(at: source, to: path, plan: QuantizationPlan(scheme))
        let raised = try #require(report.raisedTarget)
        #expect(raised.from == "iOS15" && raised.to == "\(target)")
        #expect(raised.reason == "\(scheme.weights) weights")
        #expect(try MLPackage(contentsOf: path).target == target)
        let again = try quantizePackage(
            at: try export(.iOS18), to: path, plan: QuantizationPlan(scheme))
        #expect(again.raisedTarget == nil)
        #expect(try psnr(colors(of: path), colors(of: source)) > 20)
    }

    @Test func reportsSkippedWeights() throws {
        let source = try export(.iOS18)
        var scheme = QuantizationScheme(.int4, granularity: .perBlock)
        scheme.threshold = 10_000
        let report = try quantizePackage(
            at: source, to: scratch.path("x.mlpackage"), plan: QuantizationPlan(scheme))
        #expect(report.skipped.contains { $0.reason == "it has no more than 10000 elements" })
        scheme.threshold = 1 << 30
        let error = try #require(throws: ConversionError.self) {
            try quantizePackage(
                at: source, to: scratch.path("y.mlpackage"), plan: QuantizationPlan(scheme))
        }
        #expect(error.description.contains("no weight can be compressed"))
        #expect(error.remedies.map(\.parameter) == [.threshold])
        let largest = try MLPackage(contentsOf: source).weights.max {
            $0.shape.reduce(1, *) < $1.shape.reduce(1, *)
        }
        #expect(error.remedy.hasPrefix("The largest, \(largest?.name ?? ""): it has no more"))
        #expect(try scratch.names() == ["float.mlpackage", "x.mlpackage"])
    }

    /// A table of 256 numbers takes more than a few weights.
    @Test func weightsThatWouldGrowStay() throws {
        let source = try MLPackage(contentsOf: export(.iOS18))
        var scheme = QuantizationScheme(.palette(bits: 8))
        scheme.threshold = 0
        let report = try source.quantized(QuantizationPlan(scheme)).report
        #expect(report.compressed.allSatisfy { $0.bytesAfter < $0.bytesBefore })
        let grown = report.skipped.filter { $0.reason.hasPrefix("it would take ") }
        #expect(!grown.isEmpty && grown.allSatisfy { $0.bytes < 256 * 4 * 2 }, "\(grown)")
        #expect(report.compressed.count + grown.count == source.weights.count)
    }
}
