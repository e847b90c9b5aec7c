import Foundation
import RetintCheckpoints
import RetintExport
import RetintGraph
import RetintMLPackage
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Intermediate values: their range, what they are compared with, and where error arises.
@Suite struct LayerTests {
    /// Including normalizations folded into convolutions.
    @Test(arguments: [ExportOptions.Precision.float32, .float16])
    func everyValueOfAPackageIsMatched(_ precision: ExportOptions.Precision) throws {
        let fixture = try Fixture()
        let package = try fixture.package(ExportOptions(precision: precision, size: 64))
        let report = try package.verify(against: fixture.model(), on: fixture.samples(1))
        #expect(report.passed && report.layers.count > 60)
        #expect(report.comparedCount == report.layers.count)
        #expect(report.firstDeparture == nil && report.firstNonFinite == nil)
        for layer in report.layers {
            let error = try #require(layer.error)
            #expect(precision == .float16 || error.relative < 1e-5, "\(layer.value.name)")
        }
    }

    @Test func findsWhereErrorArises() throws {
        let fixture = try Fixture()
        var changed = fixture.checkpoint
        let name = "stage4.1.depthwise.0.weight"
        let weight = try #require(changed.state[name])
        var values = try #require(weight.floats)
        values[4] += 1
        changed.state[name] = StoredTensor(shape: weight.shape, floats: values)
        let path = fixture.scratch.path("changed.h5")
        try changed.write(to: path)
        let options = VerificationOptions(tolerance: Tolerance(atol: 1000))
        let report = try Model(contentsOf: path).verify(
            against: fixture.model(), on: fixture.samples(1),
            options: options)
        let first = try #require(report.firstDeparture)
        #expect(report.layers[first.layer].value.name == "stage4.1.depthwise.0.conv2d")
        #expect(first.inputs.map { report.layers[$0].value.name } == ["stage4.1.expand.2.relu"])
        #expect(first.inputs.allSatisfy { report.layers[$0].error?.maxAbs == 0 })
        let worst = try #require(report.worstValues(1).first)
        #expect(report.layers[worst].error?.holds == false)
        // Layers past their tolerance fail the model only with `layersDecide`.
        #expect(report.passed)
        var strict = options
        strict.layersDecide = true
        let failed = try Model(contentsOf: path).verify(
            against: fixture.model(), on: fixture.samples(1),
            options: strict)
        #expect(!failed.passed && failed.layerFailures.count == 1)
    }

    /// Four values of a chain with these SNR and pairings; the fourth one is computed from the
    /// second one, too.
    private func chain(
        _ values: [(snr: Double, pairing: VerificationReport.Pairing)],
        of operations: [String] = ["mul", "mul", "mul", "mul"]
    ) throws -> [VerificationReport.Layer] {
        let inputs = [[], [0], [1], [1, 2]]
        let layers = zip(zip(values, operations), inputs).map { pair, inputs in
            let (value, operation) = pair
            return """
                {"name": "v", "operation": "\(operation)", "module": "", "shape": [1],
                 "inputs": \(inputs), "range": {"largest": 1},
                 "error": {"expected": "v", "maxAbs": 1, "meanAbs": 1, "relative": 1, "psnr": 1,
                 "snr": \(value.snr), "cosine": 1, "pairing": "\(value.pairing.rawValue)"}}
                """
        }
        let data = Data("[\(layers.joined(separator: ","))]".utf8)
        return try JSONDecoder().decode([VerificationReport.Layer].self, from: data).map {
            $0.judged(by: LayerTolerance(minSNR: 30))
        }
    }

    /// A value that is expected in another form, such as scaled before a product instead of after
    /// it, is not where the error arises: all that is computed from it is right.
    @Test(arguments: [
        ([60, 10, 60, 60], VerificationReport.Pairing.structure, nil),
        ([60, 10, 60, 10], .structure, 1), ([60, 10, 10, 10], .structure, 1),
        ([60, 10, 60, 60], .values, 1), ([60, 60, 60, 10], .structure, 3),
    ])
    func aValueInAnotherFormIsNotADeparture(
        _ snrs: [Double], _ pairing: VerificationReport.Pairing, _ first: Int?
    ) throws {
        let layers = try chain(snrs.map { ($0, pairing) })
        #expect(VerificationReport.FirstDeparture(in: layers)?.layer == first)
    }

    /// A value that a normalization makes up for is not compared: folded weights have another
    /// scale, which the normalization undoes.
    @Test(
        arguments: [
            (["conv2d", "batch_norm", "relu", "mul"], [10, 60, 60, 60], [1, 2, 3]),
            (["mul", "conv2d", "add", "batch_norm"], [60, 10, 10, 60], [0, 3]),
            // Not a normalization, one that is off as well, and one that changes little.
            (["conv2d", "relu", "relu", "mul"], [10, 60, 60, 60], [0, 1, 2, 3]),
            (["conv2d", "batch_norm", "relu", "mul"], [5, 29, 29, 29], [0, 1, 2, 3]),
            (["conv2d", "batch_norm", "relu", "mul"], [25, 40, 60, 60], [0, 1, 2, 3]),
            // The second one is used by another operation, too.
            (["mul", "conv2d", "batch_norm", "mul"], [60, 10, 60, 60], [0, 1, 2, 3]),
        ] as [([String], [Double], [Int])])
    func aNormalizedErrorDoesNotCount(
        operations: [String], snrs: [Double], compared: [Int]
    ) throws {
        let layers = try chain(snrs.map { ($0, .recorded) }, of: operations)
            .withoutNormalizedErrors()
        #expect(layers.count == 4)
        #expect(layers.indices.filter { layers[$0].error != nil } == compared)
    }

    @Test func comparesWithActivations() throws {
        let fixture = try Fixture()
        let values = try fixture.values()
        let modules = [
            "stem": "stem.2.relu", "stem.0": "stem.0.conv2d", "stage8.1": "stage8.1.add",
            "up2.narrow": "up2.narrow.1.batch_norm",
        ]
        var tensors = [("inputs/L", fixture.lightness), ("outputs/ab", try fixture.ab())]
        for (module, value) in modules {
            tensors.append(("activations/\(module)", try #require(values[value])))
        }
        let wrongShape = TensorData(shape: [1, 1, 2, 2], repeating: 0)
        tensors += [("activations/stage4", wrongShape), ("activations/unknown", wrongShape)]
        let reference = try Reference(contentsOf: fixture.write(tensors))
        let report = try fixture.model().verify(against: reference)
        let compared = report.layers.compactMap { layer in
            layer.error.map { [$0.expected, layer.value.name] }
        }
        #expect(Set(compared) == Set(modules.map { [$0.key, $0.value] }))
        #expect(report.layers.allSatisfy { ($0.error?.maxAbs ?? 0) == 0 })
        // A folded normalization takes its convolution's name; the convolution's own value is gone.
        let package = try fixture.package(ExportOptions(size: 64))
        let names = try package.verify(against: reference).layers.compactMap(\.error?.expected)
        #expect(Set(names).isSuperset(of: ["stem", "stage8.1"]))
    }

    /// A convolution that contains a normalization has the name of one in a package of another
    /// program, and the values of both: it is compared with the normalization.
    @Test func aFoldedNormalizationIsComparedByItsValues() throws {
        let fixture = try Fixture()
        let values = try fixture.values()
        let modules = ["stem.0": "stem.0.conv2d", "stem.1": "stem.1.batch_norm"]
        var tensors = [("inputs/L", fixture.lightness), ("outputs/ab", try fixture.ab())]
        for (module, value) in modules {
            tensors.append(("activations/\(module)", try #require(values[value])))
        }
        let reference = try Reference(contentsOf: fixture.write(tensors))
        var package = try #require(fixture.package(ExportOptions(size: 64)).package)
        package.description.metadata.userDefined["retint.values"] = nil
        let name = try package.spoil("conv", "weight", at: 0) { $0 }
        #expect(name.hasPrefix("stem_0"))
        let report = try Model(package, name: "folded").verify(against: reference)
        let pairs = report.layers.compactMap { layer in
            layer.error.map { (layer.value.name, $0.expected) }
        }
        #expect(pairs.contains { $0.0 == name && $0.1 == "stem.1" }, "\(pairs)")
        #expect(!pairs.contains { $0.1 == "stem.0" })
        #expect(report.layers.allSatisfy { ($0.error?.snr ?? 100) > 80 })
    }

    /// Behind new weights no value agrees, and no name says which module a value belongs to: the
    /// order in which modules ran does.
    @Test(arguments: [0.8, 1], [ExportOptions.Precision.float32, .float16])
    func aFaultBehindWhichNothingAgreesIsNamed(
        share: Double, precision: ExportOptions.Precision
    ) throws {
        let fixture = try Fixture()
        let values = try fixture.values()
        let recorded = try fixture.model().computedValues().map(\.name).filter { name in
            ["conv2d", "batch_norm", "relu", "relu6", "add"].contains {
                name.hasSuffix(".\($0)")
            }
        }
        var tensors = [("inputs/L", fixture.lightness), ("outputs/ab", try fixture.ab())]
        for (index, name) in recorded.enumerated() {
            tensors.append(("activations/module\(index)", try #require(values[name])))
        }
        let reference = try Reference(contentsOf: fixture.write(tensors))
        var options = ExportOptions(size: 64)
        options.precision = precision
        var package = try #require(fixture.package(options).package)
        package.description.metadata.userDefined["retint.values"] = nil
        let right = try Model(package, name: "right").verify(against: reference)
        #expect(right.passed && right.firstDeparture == nil, "\(right.failures)")

        let name = try package.spoil("conv", "weight", at: share) { weight in
            let scalars = try weight.floats()
            let half = scalars.count / 2
            return .floats(
                Array(scalars[half...] + scalars[..<half]), shape: weight.type.shape,
                as: weight.type.dataType)
        }
        let wrong = try Model(package, name: "wrong").verify(against: reference)
        let first = try #require(wrong.firstDeparture)
        #expect(wrong.layers[first.layer].value.name == name)
    }

    @Test func coremltoolsNamesOfBothPrecisionsAreTheSame() throws {
        func golden(_ name: String) throws -> Model {
            try Model(contentsOf: goldenPath("\(name).mlpackage", of: "MLPackageTests"))
        }
        let single = try golden("float32-iOS15")
        let half = try golden("float16-iOS15")
        let report = try half.verify(against: single, on: imagesOf(1, [1, 1, 16, 16]))
        #expect(report.passed && report.comparedCount == report.layers.count)
        #expect(report.layers.allSatisfy { ($0.error?.snr ?? 0) > 50 })
    }

    @Test func foreignNamesAreNotCompared() throws {
        let fixture = try Fixture()
        let package = try fixture.package(ExportOptions(size: 64))
        let path = fixture.scratch.path("eccv16.h5")
        try Checkpoint(.named("eccv16", .init(width: 0.25)), seed: 1)
            .write(to: path)
        let options = VerificationOptions(tolerance: Tolerance(atol: 1000))
        let report = try package.verify(
            against: Model(contentsOf: path), on: fixture.samples(1),
            options: options)
        // The outputs, and the scaling of lightness that both begin with.
        #expect(report.comparedCount <= 4)
        #expect(report.layers.contains { $0.error == nil })
    }

    /// 90² fits float16, but its square overflows; infinity − infinity is NaN.
    @Test func findsTheFirstOverflow() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("overflow.mlpackage")
        try overflowing(.float16).write(to: path)
        let reference = try Reference(
            name: "r", inputs: [NamedTensor("x", TensorData(shape: [1, 2], scalars: [90, -1]))],
            outputs: [NamedTensor("y", TensorData(shape: [1, 2], scalars: [0, 0]))])
        let model = try Model(contentsOf: path)
        let report = try model.verify(against: reference)
        #expect(!report.passed && report.compute == .float16)
        let first = try #require(report.firstNonFinite.map { report.layers[$0] })
        #expect(first.value.name == "fourth" && first.range.nonFinite?.first == [0, 0])
        #expect(first.range.nonFinite?.nan == 0 && first.range.largest == 1)
        #expect(first.value.inputs.map { report.layers[$0].value.name } == ["square", "square"])
        let last = try #require(report.layers.last)
        #expect(last.range.nonFinite?.nan == 1)
        let single = try model.verify(against: reference, options: .init(compute: .float32))
        #expect(single.firstNonFinite == nil && single.layers[1].range.shareOfHalf > 1000)
    }

    /// Values that a package declares as float32 are rounded only if requested.
    @Test func mixedPrecisionRoundsWhatIsDeclared() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("mixed.mlpackage")
        try overflowing(.float32).write(to: path)
        let model = try Model(contentsOf: path)
        #expect(model.computePrecision == .mixed)
        let input = [NamedTensor("x", TensorData(shape: [1, 2], scalars: [90, 0.1]))]
        let mixed = try model.run(input, compute: .mixed)[0].data.scalars
        #expect(mixed == [0, 0])
        let half = try model.run(input, compute: .float16)[0].data.scalars
        #expect(half[0].isNaN && half[1] == 0)
    }

    /// x² in float16, then squared in `precision` and subtracted from itself.
    private func overflowing(_ precision: MILDataType) throws -> MLPackage {
        var builder = MILProgramBuilder()
        func type(_ dataType: MILDataType) -> MILTensorType { MILTensorType(dataType, [1, 2]) }
        var x = builder.input("x", type(.float32))
        func apply(_ operation: String, _ name: String, _ dataType: MILDataType) {
            x = builder.operation(
                operation, ["x": .name(x), "y": .name(x)], name: name, type: type(dataType))
        }
        func cast(_ word: String, _ dataType: MILDataType) {
            x = builder.operation(
                "cast", ["x": .name(x), "dtype": .constant(.string(word))], name: "cast_\(x)",
                type: type(dataType))
        }
        cast("fp16", .float16)
        apply("mul", "square", .float16)
        if precision == .float32 { cast("fp32", .float32) }
        apply("mul", "fourth", precision)
        apply("sub", "nothing", precision)
        if precision == .float16 { cast("fp32", .float32) }
        try builder.output(x, as: "y")
        let feature = { (name: String) in
            Feature(name, .multiArray(ArrayFeature(.float32, [1, 2])))
        }
        return MLPackage(
            target: .iOS15,
            description: ModelDescription(inputs: [feature("x")], outputs: [feature("y")]),
            program: builder.program)
    }
}

/// Arithmetic in half precision against PyTorch; see Goldens/record_half.py.
@Suite struct HalfArithmeticTests {
    private let model: Model
    private let reference: Reference

    init() throws {
        model = try Model(contentsOf: goldenPath("half.mlpackage"))
        reference = try Reference(contentsOf: goldenPath("half.h5"))
    }

    /// One rounding too many or too few leaves an SNR of 75 dB; sums that occasionally round the
    /// other way leave more than 110 dB.
    @Test func everyOperationRoundsItsResultOnce() throws {
        let report = try model.verify(against: reference)
        #expect(report.compute == .float16)
        #expect(report.comparedCount == 13 && report.layers.count == 13)
        for layer in report.layers {
            #expect(try #require(layer.error).snr > 110, "\(layer.value.name)")
        }
    }

    @Test func everyValueIsRounded() throws {
        let prepared = try model.program(on: reference.inputs, compute: .float16)
        var run = try prepared.start(reference.inputs)
        var count = 0
        while let values = run.next() {
            for value in values {
                count += 1
                let scalars = value.data.scalars
                #expect(HalfPrecision.floats(HalfPrecision.halfs(scalars)) == scalars)
            }
        }
        #expect(count == prepared.values.count)
    }

    /// The weights of a checkpoint are rounded too.
    @Test func checkpointsAreRoundedToo() throws {
        let fixture = try Fixture()
        let values = try fixture.values(compute: .float16)
        #expect(values.count > 100)
        for (name, value) in values {
            let scalars = value.scalars
            #expect(HalfPrecision.floats(HalfPrecision.halfs(scalars)) == scalars, "\(name)")
        }
    }
}
