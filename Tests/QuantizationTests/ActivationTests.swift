import Foundation
import RetintEngine
import RetintExport
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintQuantization

/// Inputs of operations in 8 bits.
@Suite struct ActivationTests {
    private let scratch: TemporaryFolder
    private let photos = (10..<14).map { [NamedTensor("lightness", lightness($0))] }

    init() throws { scratch = try TemporaryFolder() }

    // MARK: Ranges

    @Test func histogramWidens() {
        var histogram = ValueHistogram()
        let added = [[0, 0.1, -0.05], [100, 0, 0.1]].map { histogram.add($0) }
        #expect(added == [true, true])
        #expect(histogram.counts.reduce(0, +) == 4 && histogram.zeros == 2)
        #expect(histogram.low == -0.05 && histogram.high == 100)
        let used = histogram.counts.indices.filter { histogram.counts[$0] > 0 }
        for (index, value) in zip(used, [-0.05, 0.1, 100] as [Float]) {
            #expect(abs(histogram.center(index) - value) <= histogram.width / 2)
        }
        let refused = [[1, .nan], [.infinity]].map { histogram.add($0) }
        #expect(refused == [false, false])
        #expect(histogram.counts.reduce(0, +) == 4)
    }

    private struct Golden: Decodable {
        let kind, integers, mode: String
        let scale: Double
        let zeroPoint: Int32
        let percentile: [Double]
        let leastError: Double
    }

    /// Scales and zero points are coremltools', percentiles NumPy's, and no range has a smaller
    /// mean square error than the one that is found, within 2 %.
    @Test func rangesAreThoseOfOthers() throws {
        struct File: Decodable { let activations: [Golden] }
        let file: File = try decodeGolden("quantization.json", keys: .convertFromSnakeCase)
        #expect(file.activations.count == 12)
        for golden in file.activations { try check(golden) }
    }

    private func check(_ golden: Golden) throws {
        let values = pseudorandomValues([12, 64, 3, 3]).scalars.map { value -> Float in
            switch golden.kind {
            case "skewed": value * value * value + 0.25
            case "positive": max(value * value * value, 0)
            default: value
            }
        }
        var histogram = ValueHistogram()
        _ = histogram.add(values)
        let integers = try #require(ActivationScheme.Integers(rawValue: golden.integers))
        let mode: QuantizationScheme.Mode = golden.mode == "LINEAR" ? .linear : .symmetric
        func grid(_ range: ActivationScheme.Range) -> AffineGrid {
            let scheme = ActivationScheme(integers, mode: mode, range: range)
            return AffineGrid(scheme, histogram.range(scheme))
        }
        let minmax = grid(.minmax)
        #expect(abs(Double(minmax.scales[0]) / golden.scale - 1) < 1e-6)
        #expect(minmax.zeroPoints?[0] ?? 0 == golden.zeroPoint)
        let percentile = histogram.range(
            ActivationScheme(integers, mode: mode, range: .percentile(99)))
        #expect(
            abs(Double(percentile.lowerBound) - golden.percentile[0]) <= Double(histogram.width)
                + 0.0025)
        #expect(
            abs(Double(percentile.upperBound) - golden.percentile[1]) <= Double(histogram.width)
                + 0.0025)
        let least = grid(.mse)
        let error = values.reduce(0.0) { sum, value in
            let rounded = least.value(of: least.code(nearest: value, block: 0), block: 0)
            return sum + Double((value - rounded) * (value - rounded))
        }
        #expect(
            error <= 1.02 * golden.leastError,
            "\(golden) \(least.scales) \(error) \(golden.leastError)")
    }

    /// Outliers are cut, unlike by minmax.
    @Test(arguments: [ActivationScheme.Range.entropy, .percentile(99.9)])
    func outliersAreCut(_ range: ActivationScheme.Range) {
        var histogram = ValueHistogram()
        _ = histogram.add(pseudorandomValues([100_000]).scalars + [40, -40])
        for mode in [QuantizationScheme.Mode.symmetric, .linear] {
            let found = histogram.range(ActivationScheme(mode: mode, range: range))
            #expect(found.upperBound < 20 && found.lowerBound > -20 && found.upperBound >= 0.9)
        }
    }

    // MARK: Packages

    @Test(arguments: [ExportOptions.Precision.float32, .float16])
    func quantizesInputsOfOperations(_ precision: ExportOptions.Precision) throws {
        let source = try MLPackage(contentsOf: scratch.export(.iOS15, precision))
        let plan = QuantizationPlan(.init(.int8), activations: .init())
        let (package, report) = try source.quantized(plan, calibration: photos)
        #expect(report.raisedTarget?.to == "iOS17" && package.target == .iOS17)
        let restored = Set(package.operations("dequantize").map { $0.outputs[0].name })
        #expect(restored.count == report.activations.count && restored.count >= 20)
        #expect(package.operations("quantize").count == restored.count)
        for type in ["conv", "conv_transpose"] {
            for operation in package.operations(type) {
                #expect(restored.contains(operation.inputs["x"]?.first?.name ?? ""))
            }
        }
        // Small weights are quantized, too.
        #expect(report.skipped.isEmpty, "\(report.skipped)")
        #expect(
            package.description.metadata.userDefined["retint.activations"]
                == "int8 symmetric mse")
        let change = try source.outputChange(to: package, on: photos)
        #expect(try #require(change.psnrDb) > 30 && change.snrDb != nil)
        // Nothing is quantized twice.
        #expect(throws: ConversionError.self) {
            try package.quantized(QuantizationPlan(nil, activations: .init()), calibration: photos)
        }
    }

    /// Biases fit integers of 32 bits whose step is the product of both scales.
    @Test func biasesFitIntegers() throws {
        var net = Sketch(input: [1, 4, 8, 8])
        let y = net.conv(
            .name("x"), net.numbers([4, 4, 1, 1], [1, 1e-9, 0, 1e-6]),
            net.constant(.floats([1, -2, 3, 0])), [1, 4, 8, 8])
        let input = pseudorandomValues([1, 4, 8, 8])
        let (package, report) = try net.package(returning: y).quantized(
            QuantizationPlan(.init(.int8), activations: .init(range: .minmax)),
            calibration: [[NamedTensor("x", input)]])
        let scale = try #require(report.activations[0].scale)
        let weight = try #require(package.operations("constexpr_affine_dequantize").first)
        let scales = try #require(weight.attributes["scale"]).floats()
        for (bias, own) in zip([1, 2, 3] as [Float], scales) {
            let integer = bias / (own * scale)
            #expect(integer < 0x1p30 && integer > 100, "\(integer)")
        }
        #expect(scales[3] > 1e-9 && scales[3] < 1e-7)
        #expect(snr(try net.package(returning: y).output(input), try package.output(input)) > 35)
    }

    /// A mask of huge numbers stays a float.
    @Test func hugeNumbersStayFloats() throws {
        var net = Sketch(input: [1, 4, 8, 8])
        let x = net.conv(.name("x"), net.numbers([2, 4, 1, 1]), net.numbers([2]), [1, 2, 8, 8])
        let mask = net.add(
            "mul", ["x": x, "y": net.constant(.float(-0x1p124))], [1, 2, 8, 8])
        let sum = net.add("add", ["x": x, "y": mask], [1, 2, 8, 8])
        let y = net.add("sigmoid", ["x": sum], [1, 2, 8, 8])
        let (package, report) = try net.package(returning: y).quantized(
            QuantizationPlan(nil, activations: .init()),
            calibration: [[NamedTensor("x", pseudorandomValues([1, 4, 8, 8]))]])
        #expect(report.activations.count == 3)
        #expect(report.activations.filter { $0.scheme == nil }.map(\.name) == [mask.name])
        #expect(package.operations("quantize").count == 2)
    }

    /// An operation that the plan leaves out keeps its float input; one that it names has its own
    /// scheme.
    @Test func plansChooseOperations() throws {
        let source = try MLPackage(contentsOf: scratch.export(.iOS17))
        let yaml = """
            global_config: { config_type: OpLinearQuantizerConfig }
            activations:
              global_config: { dtype: int8, mode: linear_symmetric, range: percentile99.9 }
              op_type_configs:
                add: null
              op_name_configs:
                stem_0_conv2d: { dtype: uint8, mode: linear, range: minmax }
            """
        let plan = try QuantizationPlan(yaml: yaml, name: "plan.yaml", standard: nil)
        let (package, report) = try source.quantized(plan, calibration: photos)
        let schemes = Set(report.activations.compactMap(\.scheme))
        #expect(schemes == ["int8 symmetric percentile99.9", "uint8 linear minmax"])
        let restored = Set(package.operations("dequantize").map { $0.outputs[0].name })
        for operation in package.operations("add") {
            #expect(
                !["x", "y"].contains { restored.contains(operation.inputs[$0]?.first?.name ?? "") })
        }
    }

    @Test(arguments: [
        ("activations: { global_config: { dtype: int4 } }", "int4 is not a valid value"),
        ("activations: { global_config: { nbits: 8 } }", "nbits is not supported for activations"),
        ("activations: { config: 1 }", "there is no key config"),
        ("activations: { global_config: { range: percentile120 } }", "above 50 and at most 100"),
        ("activations: { op_type_configs: { stum: null } }", "no operation of the package"),
    ])
    func refusesPlans(_ yaml: String, _ words: String) throws {
        let source = try MLPackage(contentsOf: scratch.export(.iOS17))
        let error = try #require(throws: ConversionError.self) {
            var plan = try QuantizationPlan(yaml: yaml, name: "plan.yaml", standard: nil)
            if plan.activations.all.isEmpty { plan.activations.standard = .init() }
            _ = try source.quantized(plan, calibration: photos)
        }
        #expect(error.description.contains(words) && error.kind == .option, "\(error)")
    }

    @Test func refusesWhatCannotBe() throws {
        let plan = QuantizationPlan(nil, activations: .init())
        let early = try MLPackage(contentsOf: scratch.export(.iOS16))
        #expect(throws: ConversionError.self) { try early.quantized(plan, calibration: photos) }
        let source = try MLPackage(contentsOf: scratch.export(.iOS17))
        let error = try #require(throws: ConversionError.self) { try source.quantized(plan) }
        #expect(error.description.contains("Calibrate on photos") && error.kind == .option)
        var wide = plan
        wide.smoothing = 2
        #expect(throws: ConversionError.self) { try source.quantized(wide, calibration: photos) }
    }

    // MARK: Search

    /// Four inputs of operations, one of which has outliers that 8 bits cannot hold.
    private func fragile() throws -> MLPackage {
        var net = Sketch(input: [1, 4, 8, 8])
        var x = MILArgument.name("x")
        for layer in 0..<4 {
            let factors: [Float] = layer == 1 ? [1, 1, 1, 4000] : [1]
            x = net.conv(x, net.numbers([4, 4, 1, 1], factors), net.numbers([4]), [1, 4, 8, 8])
            x = net.add("relu", ["x": x], [1, 4, 8, 8])
            if layer == 1 {
                // The large channel hardly matters.
                x = net.add(
                    "mul", ["x": x, "y": net.constant(.floats([1, 1, 1, 1], shape: [4, 1, 1]))],
                    [1, 4, 8, 8])
            }
        }
        return try net.package(returning: x)
    }

    /// The smallest set of inputs that must stay floats: as many as all choices tried one by one
    /// say.
    @Test(arguments: [12.0, 25, 33, 36, 40])
    func searchFindsTheSmallestSet(_ bound: Double) throws {
        let package = try fragile()
        let inputs = (1..<4).map { [NamedTensor("x", pseudorandomValues([1, 4, 8, 8], seed: $0))] }
        let plan = QuantizationPlan(nil, activations: .init())
        let convolutions = package.operations("conv").map(\.name)
        var best = Int.max
        for mask in 0..<1 << convolutions.count {
            var own = plan
            for (index, name) in convolutions.enumerated() where mask >> index & 1 == 1 {
                own.activations.byName.updateValue(nil, forKey: name)
            }
            let quantized =
                mask == (1 << convolutions.count) - 1
                ? package : try package.quantized(own, calibration: inputs).package
            let snr = try package.outputChange(to: quantized, on: inputs).snrDb ?? .infinity
            if snr >= bound { best = min(best, mask.nonzeroBitCount) }
        }
        let (_, report) = try package.searchActivations(
            plan, on: inputs, within: .minSNR(bound))
        let kept = report.quantization.activations.count { $0.scheme == nil }
        #expect(kept == best && report.proof == .optimal)
        #expect(report.change.snrDb ?? .infinity >= bound)
        #expect(report.quantization.activations.allSatisfy { $0.effect != nil })
    }

    /// With many inputs, none of those that stay floats can be quantized in addition.
    @Test func searchIsMinimal() throws {
        let source = try MLPackage(contentsOf: scratch.export(.iOS17, width: 0.25))
        let inputs = Array(photos.prefix(2))
        let plan = QuantizationPlan(.init(.int8), activations: .init())
        let all = try source.quantized(plan, calibration: inputs).package
        let whole = try #require(source.outputChange(to: all, on: inputs).deltaE2000)
        let (package, report) = try source.searchActivations(
            plan, on: inputs, within: .meanDeltaE(0.8 * whole))
        #expect(try #require(report.change.deltaE2000) <= 0.8 * whole)
        let kept = report.quantization.activations.filter { $0.scheme == nil }
        #expect(!kept.isEmpty && kept.count < report.quantization.activations.count)
        #expect(report.proof == .minimal)
        #expect(
            package.operations("quantize").count + kept.count
                == report.quantization.activations.count)
        #expect(throws: ConversionError.self) {
            try source.searchActivations(plan, on: inputs, within: .meanDeltaE(1e-6))
        }
    }
}
