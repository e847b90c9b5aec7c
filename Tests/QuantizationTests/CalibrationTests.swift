import RetintEngine
import RetintGraph
import RetintMLPackage
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintQuantization

/// Scales and rounding calibrated on photos.
@Suite struct CalibrationTests {
    private let scratch: TemporaryFolder
    private let photos = (10..<18).map { lightness($0) }

    init() throws { scratch = try TemporaryFolder() }

    /// The power and the sum of an operation's output follow from the moments of its inputs.
    @Test(arguments: [
        (1, 1, 1, 1), (2, 1, 1, 0), (1, 2, 1, 2), (1, 1, 4, 1), (2, 2, 2, 3),
    ])
    func momentsMatchConvolution(
        _ stride: Int, _ dilation: Int, _ groups: Int, _ padding: Int
    ) throws {
        let graph = Graph()
        let x = pseudorandomValues([2, 8, 13, 12])
        let weight = pseudorandomValues([12, 8 / groups, 3, 3], seed: 2)
        let y = conv2d(
            graph.input("x", x.shape), weight: graph.variable("w", weight.shape, role: .parameter),
            stride: Pair(stride), padding: Padding(padding), dilation: Pair(dilation),
            groups: groups)
        let operation = try #require(graph.nodes[y.id].operation as? Convolution)
        try expectSamePower(
            y, x, weight, WeightPart.parts(operation, weight.shape, output: y.shape))
    }

    @Test(arguments: [(2, 1, 4, 1), (1, 1, 3, 1), (2, 1, 3, 1), (2, 2, 4, 2), (3, 2, 2, 1)])
    func momentsMatchTransposedConvolution(
        _ stride: Int, _ groups: Int, _ kernel: Int, _ padding: Int
    ) throws {
        let graph = Graph()
        let x = pseudorandomValues([2, 8, 7, 6])
        let weight = pseudorandomValues([8, 6, kernel, kernel], seed: 2)
        let y = convTranspose2d(
            graph.input("x", x.shape), weight: graph.variable("w", weight.shape, role: .parameter),
            stride: Pair(stride), padding: Padding(padding), groups: groups)
        let operation = try #require(graph.nodes[y.id].operation as? ConvolutionTranspose)
        try expectSamePower(
            y, x, weight, WeightPart.parts(operation, weight.shape, output: y.shape))
    }

    @Test(arguments: [false, true]) func momentsMatchMatrixProduct(_ transposes: Bool) throws {
        let graph = Graph()
        let x = pseudorandomValues([2, 3, 17, 8])
        let weight = pseudorandomValues(transposes ? [12, 8] : [8, 12], seed: 2)
        let y = matmul(
            graph.input("x", x.shape), graph.variable("w", weight.shape, role: .parameter),
            transposeY: transposes)
        let operation = try #require(graph.nodes[y.id].operation as? MatMul)
        let parts = try #require(WeightPart.parts(operation, weight.shape))
        try expectSamePower(y, x, weight, parts, channels: 12)
        #expect(WeightPart.parts(operation, [2, 8, 12]) == nil)
    }

    private func expectSamePower(
        _ y: Tensor, _ x: TensorData, _ weight: TensorData, _ parts: [WeightPart],
        channels: Int? = nil
    ) throws {
        let output = try y.evaluate(inputs: ["x": x], variables: ["w": weight])
        let expected = output.scalars.reduce(0) { $0 + Double($1) * Double($1) }
        var (power, sums) = (0.0, 0.0)
        for part in parts {
            let patches = part.patches(of: x, limit: .max)
            var gram = DenseMatrix(rows: patches.columns, columns: patches.columns)
            gram.addGram(of: patches)
            power += gram.quadraticForm(part.matrix(weight.scalars))
            var moments = WeightInputs.Moments(features: patches.columns)
            moments.add(patches)
            let zeros = [Float](repeating: 0, count: weight.scalars.count)
            let bias = WeightInputs([(part, moments)], correctsBias: true)
                .biasCorrection(from: weight.scalars, to: zeros, channels: channels ?? y.shape[1])
            sums += bias.reduce(0) { $0 + Double($1) } * Double(patches.rows)
        }
        #expect(abs(power - expected) <= 1e-4 * expected)
        let total = output.scalars.reduce(0) { $0 + Double($1) }
        #expect(abs(sums - total) <= 1e-4 * expected.squareRoot() * 100)
    }

    /// UᵀU times the damped matrix is the identity.
    @Test func inverseFactor() throws {
        var gram = DenseMatrix(rows: 40, columns: 40)
        gram.addGram(
            of: DenseMatrix(rows: 90, columns: 40, scalars: pseudorandomValues([90, 40]).scalars))
        let factor = try #require(gram.inverseFactor(damping: 0.5))
        for row in 0..<40 {
            for column in 0..<40 {
                let sum = (0..<40).reduce(0.0) { sum, inner in
                    let inverse = (0...min(row, inner)).reduce(0.0) {
                        $0 + Double(factor[$1, row]) * Double(factor[$1, inner])
                    }
                    let damped = inner == column ? 0.5 : 0
                    let first = min(inner, column)
                    return sum + inverse * (Double(gram[first, max(inner, column)]) + damped)
                }
                #expect(abs(sum - (row == column ? 1 : 0)) < 1e-3)
            }
        }
    }

    static let schemes: [QuantizationScheme] = {
        var block = QuantizationScheme(.int4, granularity: .perBlock)
        block.blockSize = 8
        var sparse = QuantizationScheme(.unchanged)
        sparse.sparsity = 0.5
        return [
            .init(.int8), .init(.int4), block, .init(.palette(bits: 4)), .init(.palette(bits: 2)),
            sparse,
        ]
    }()

    /// Calibration reduces the color change on photos that were not calibrated on.
    @Test(arguments: schemes)
    func calibrationReducesError(_ scheme: QuantizationScheme) throws {
        let source = try scratch.export(.iOS18)
        let plan = QuantizationPlan(scheme)
        let (plain, tuned) = (scratch.path("a.mlpackage"), scratch.path("b.mlpackage"))
        try _ = quantizePackage(at: source, to: plain, plan: plan)
        let report = try quantizePackage(
            at: source, to: tuned, plan: plan, calibration: photos)
        #expect(report.compressed.contains { $0.outputSnrDb != nil })
        let tests = (1..<5).map { lightness($0) }
        let before = try colorChange(from: source, to: plain, photos: tests)
        let after = try colorChange(from: source, to: tuned, photos: tests)
        #expect(after.meanDeltaE < 0.9 * before.meanDeltaE)
        #expect(try #require(after.psnrDb) > #require(before.psnrDb) + 1)
    }

    @Test func sameBytes() throws {
        let source = try scratch.export(.iOS18)
        for name in ["first", "second"] {
            try _ = quantizePackage(
                at: source, to: scratch.path("\(name).mlpackage"),
                plan: QuantizationPlan(.init(.int4)), calibration: photos)
        }
        #expect(
            try contents(ofFolder: scratch.path("first.mlpackage"))
                == contents(ofFolder: scratch.path("second.mlpackage")))
    }

    /// No uniform scheme within the bound is smaller than the package that the search finds.
    @Test func searchStaysWithinTheBound() throws {
        let source = try scratch.export(.iOS18, width: 0.25)
        let photos = Array(photos.prefix(4))
        let uniform = try compareSchemes(onPackage: source, photos: photos, calibration: photos)
        #expect(uniform.count == QuantizationScheme.usual.count)
        for bound in [0.3, 3.0] {
            let target = scratch.path("found.mlpackage")
            let found = try searchQuantization(
                of: source, to: target, photos: photos, maximumDeltaE: bound)
            #expect(found.change.meanDeltaE <= bound)
            #expect(try colorChange(from: source, to: target, photos: photos) == found.change)
            let best = found.quantization.bytesBefore - found.quantization.bytesAfter
            for other in uniform {
                let saved = try #require(other.bytesBefore) - #require(other.bytes)
                #expect(
                    try #require(other.change).meanDeltaE > bound || saved <= best,
                    "\(other.scheme) within \(bound)")
            }
        }
    }

    /// Small weights are skipped for their size, others because of the error budget.
    @Test func searchReportsSkippedWeights() throws {
        let source = try scratch.export(.iOS16, .float16, width: 0.25)
        let photos = [lightness(1)]
        let uniform = try compareSchemes([.init(.int8)], onPackage: source, photos: photos)
        let found = try searchQuantization(
            of: source, to: scratch.path("found.mlpackage"), photos: photos,
            maximumDeltaE: 0.1 * #require(uniform[0].change).meanDeltaE)
        let reasons = Set(found.quantization.skipped.map(\.reason))
        #expect(
            reasons == [
                "it has no more than 2048 elements",
                "the error budget is better spent on other weights",
            ])
    }

    /// A scheme that fails reports why and does not stop the others.
    @Test func comparisonReportsFailures() throws {
        let source = try scratch.export(.iOS16, .float16, width: 0.25)
        let results = try compareSchemes(
            [.init(.float16), .init(.int8)], onPackage: source, photos: [lightness(1)])
        #expect(results[0].failure?.contains("no weight can be compressed") == true)
        #expect(results[0].bytes == nil && results[0].change == nil)
        #expect(results[1].failure == nil && results[1].bytes != nil)
    }

    @Test func comparesSchemes() throws {
        let source = try scratch.export(.iOS16)
        let results = try compareSchemes(onPackage: source, photos: [lightness(1)])
        #expect(results.count >= 7 && results.contains { $0.scheme == "palette4 per-tensor" })
        #expect(!results.contains { $0.scheme.hasPrefix("int4") })
        #expect(try scratch.names() == ["float.mlpackage"])
    }
}
