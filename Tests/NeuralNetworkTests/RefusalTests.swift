import Foundation
import RetintCoreMLProto
import RetintFiles
import RetintMIL
import RetintMLPackage
import RetintNeuralNetwork
import RetintTestSupport
import SwiftProtobuf
import Testing

/// Files that are refused: each error names the file, the place and the rule.
@Suite struct RefusalTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func expect(
        _ rule: String, place: String = "", reading bytes: Data, at name: String = "a.mlmodel"
    ) throws {
        let path = scratch.path(name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try bytes.write(to: URL(filePath: path))
        do {
            _ = try MLPackage(contentsOfMLModel: path)
            Issue.record("\(rule): it is read")
        } catch let error as any RetintError {
            #expect(error.description.contains(rule), "\(error)")
            #expect(place.isEmpty || error.description.contains(place), "\(error)")
            #expect(error.description.contains(path), "\(error)")
        }
    }

    private static func model(_ name: String) throws -> ProtoModel {
        try ProtoModel(serializedBytes: try bytes(name))
    }

    private static func bytes(_ name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: goldenPath("\(name).mlmodel")))
    }

    typealias Change = @Sendable (inout ProtoModel) -> Void

    /// The first layer is a convolution [6, 1, 3, 3], the second one a batch normalization.
    private static let cases: [(String, Change)] = [
        (
            "53 elements, but [6, 1, 3, 3] needs 54",
            { $0.convolution.weights.floatValue.removeLast() }
        ),
        ("the number of output channels has to be from 1", { $0.convolution.outputChannels = 0 }),
        (
            "the number of output channels has to be from 1",
            { $0.convolution.outputChannels = .max }
        ),
        (
            "the weights of [16777216, 16777216, 3, 3] are too large",
            { ($0.convolution.outputChannels, $0.convolution.kernelChannels) = (1 << 24, 1 << 24) }
        ),
        (
            "the weights: 54 elements, but [4096, 4096, 3, 3]",
            { ($0.convolution.outputChannels, $0.convolution.kernelChannels) = (4096, 4096) }
        ),
        ("the kernel needs 2 numbers, has 1", { $0.convolution.kernelSize = [3] }),
        ("the kernel has to be from 1", { $0.convolution.kernelSize = [3, .max] }),
        ("the stride has to be from 1", { $0.convolution.stride = [0, 1] }),
        ("neither float32, float16 nor quantized", { $0.convolution.weights = .init() }),
        (
            "its input \"nothing\" is not defined before it",
            { $0.neuralNetwork.layers[0].input = ["nothing"] }
        ),
        ("it has 0 inputs, not one", { $0.neuralNetwork.layers[0].input = [] }),
        ("it has 2 outputs, not 1", { $0.neuralNetwork.layers[0].output.append("more") }),
        (
            "layers of the type custom are not supported",
            { $0.neuralNetwork.layers[0].custom = .init() }
        ),
        (
            "layers of the type biDirectionalLstm are not supported",
            { $0.neuralNetwork.layers[0].biDirectionalLstm = .init() }
        ),
        (
            "layers of the type unknown are not supported",
            { $0.neuralNetwork.layers[0].layer = nil }
        ),
        ("7 channels do not fit an input", { $0.neuralNetwork.layers[1].batchnorm.channels = 7 }),
        ("no layer computes it", { $0.description_p.output[0].name = "absent" }),
        (
            "sizes have to be above zero",
            { $0.description_p.input[0].type.multiArrayType.shape[2] = -8 }
        ),
        (
            "its size is not between 0 and",
            { $0.description_p.input[0].type.multiArrayType.shape[2] = .max }
        ),
        (
            "optional inputs are not supported",
            { $0.description_p.input[0].type.isOptional = true }
        ),
        ("train on the device", { $0.isUpdatable = true }),
        ("specification version 99 is not supported", { $0.specificationVersion = 99 }),
        (
            "it does not name its input, and the model has 0 images",
            { $0.neuralNetwork.preprocessing = [ProtoNeuralNetworkPreprocessing()] }
        ),
        (
            "the layers repeat or create more than",
            { model in
                let layers = (0..<100).map { index in
                    var layer = ProtoNeuralNetworkLayer()
                    layer.rangeStatic.endValue = 1e6
                    layer.output = ["range \(index)"]
                    return layer
                }
                model.neuralNetwork.layers = layers + model.neuralNetwork.layers
            }
        ),
        (
            "its input \"other\" does not exist",
            { model in
                var scaler = ProtoNeuralNetworkPreprocessing()
                scaler.featureName = "other"
                model.neuralNetwork.preprocessing = [scaler]
            }
        ),
    ]

    @Test(arguments: cases.indices) func damageIsNamed(_ index: Int) throws {
        let (rule, change) = Self.cases[index]
        var model = try Self.model("unet")
        change(&model)
        try expect(rule, reading: try model.serializedData())
    }

    typealias WeightChange = @Sendable (inout ProtoWeightParams) -> Void

    private static let quantizations: [(String, String, WeightChange)] = [
        ("quantized-linear4", "bits, not 1 to 8", { $0.quantization.numberOfBits = 9 }),
        ("quantized-linear4", "bytes, but", { $0.rawValue.removeLast() }),
        ("quantized-linear4", "2 scales", { $0.quantization.linearQuantization.scale = [1, 2] }),
        (
            "quantized-table3", "7 entries, not 8",
            { $0.quantization.lookupTableQuantization.floatValue.removeLast() }
        ),
    ]

    @Test(arguments: quantizations.indices) func badQuantizationIsNamed(_ index: Int) throws {
        let (name, rule, change) = Self.quantizations[index]
        var model = try Self.model(name)
        change(&model.convolution.weights)
        try expect(rule, place: "layer 0 (convolution", reading: try model.serializedData())
    }

    @Test func otherModelsAreNamed() throws {
        var model = try Self.model("unet")
        model.pipeline = .init()
        try expect("contains a pipeline", reading: try model.serializedData())
        model.treeEnsembleRegressor = .init()
        try expect("tree ensemble", reading: try model.serializedData())
        try expect("it is not a Core ML model", reading: Data("text".utf8))
    }

    /// No part of a file makes the reader trap.
    @Test(arguments: ["unet", "image-rgb", "quantized-table3", "classifier"])
    func truncatedFilesAreRefused(_ name: String) throws {
        let whole = try Self.bytes(name)
        for count in stride(from: 0, to: whole.count - 1, by: 37) {
            let path = scratch.path("short.mlmodel")
            try FileManager.default.createDirectory(
                atPath: scratch.path(""), withIntermediateDirectories: true)
            try whole.prefix(count).write(to: URL(filePath: path))
            #expect(throws: (any Error).self) { try MLPackage(contentsOfMLModel: path) }
        }
    }

    /// Changed bytes are refused or read, but never trap.
    @Test(arguments: ["exact", "rank5", "unet-range", "quantized-table6"])
    func changedBytesDoNotTrap(_ name: String) throws {
        let whole = try Self.bytes(name)
        let path = scratch.path("changed.mlmodel")
        try FileManager.default.createDirectory(
            atPath: scratch.path(""), withIntermediateDirectories: true)
        var state: UInt64 = 88_172_645_463_325_252
        func next(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for turn in 0..<40 {
            var bytes = whole
            for _ in 0..<(1 + turn % 4) {
                bytes[next(below: bytes.count)] = [0, 1, 0x7F, 0x80, 0xFF][next(below: 5)]
            }
            try bytes.write(to: URL(filePath: path))
            _ = try? MLPackage(contentsOfMLModel: path)
        }
    }

    @Test func tooManyPartsAreRefused() throws {
        // 2²¹ empty layers.
        let layers = Data(repeating: 0, count: 1 << 22).enumerated().map { index, _ in
            index % 2 == 0 ? UInt8(0x0A) : 0
        }
        var bytes = Data([0x08, 0x04, 0xA2, 0x1F])
        var count = layers.count
        while count > 0x7F {
            bytes.append(UInt8(count & 0x7F | 0x80))
            count >>= 7
        }
        bytes.append(UInt8(count))
        try expect("it describes more than", reading: bytes + layers)
    }
}

extension ProtoModel {
    /// The first layer's.
    fileprivate var convolution: ProtoConvolutionLayerParams {
        get { neuralNetwork.layers[0].convolution }
        set { neuralNetwork.layers[0].convolution = newValue }
    }
}

/// Texts of compiled models that are refused.
@Suite struct CompiledRefusalTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private static let good = """
        program(1.0)
        [buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"a \\" ]", "1"}})]
        {
            func main<ios16>(tensor<fp32, [1, 4]> x) {
                    tensor<fp32, []> y_0 = const()[name = tensor<string, []>("y_0"), val = \
        tensor<fp32, []>(0x1.8p+0)];
                    tensor<fp32, [1, 4]> y = add(x = x, y = y_0)[name = tensor<string, []>("y")];
                } -> (y);
        }
        """

    private func read(_ text: String) throws -> MLPackage {
        let folder = scratch.path("a.mlmodelc")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: folder + "/model.mil"))
        return try MLPackage(contentsOfCompiled: folder)
    }

    /// Without metadata, the program says what its inputs and outputs are.
    @Test func textAloneIsRead() throws {
        let package = try read(Self.good)
        #expect(package.program.operations.count == 2)
        #expect(package.program.operations[0].constantValue == .float(1.5))
        #expect(package.description.inputs[0].type == .multiArray(ArrayFeature(.float32, [1, 4])))
        #expect(package.target == .iOS16)
    }

    @Test(arguments: [
        ("program(1.0)", "program(2.0)", "its version has to be 1"),
        ("ios16", "ios99", "operation set ios99"),
        ("[1, 4]> x)", "[1, -4]> x)", "-4 is not a size"),
        ("fp32, [1, 4]> x)", "what, [1, 4]> x)", "the type what is not known"),
        ("tensor<fp32, [1, 4]> y =", "list<fp32> y =", "only tensors are supported"),
        ("0x1.8p+0", "0x1.8p+0, 2", "do not fit"), ("0x1.8p+0", "many", "a number is expected"),
        ("y = y_0)", "y = y_1)", "not defined before its use"),
        ("y = y_0)[name = tensor<string, []>(\"y\")];", "y = y_0) {", "control flow"),
        ("} -> (y);", "} -> (z);", "not defined"), ("} -> (y);\n}", "", "expected"),
        (
            "(0x1.8p+0)",
            "(BLOBFILE(path = tensor<string, []>(\"@model_path/../a\"), "
                + "offset = tensor<uint64, []>(64)))", "weight file"
        ),
        ("tensor<string, []>(\"y_0\")", "tensor<string, []>(\"y_0", "does not end"),
    ])
    func damageIsNamed(_ old: String, _ new: String, _ rule: String) throws {
        let text = Self.good.replacingOccurrences(of: old, with: new)
        #expect(text != Self.good)
        do {
            _ = try read(text)
            Issue.record("\(rule): it is read")
        } catch {
            #expect("\(error)".contains(rule), "\(error)")
            #expect("\(error)".contains("a.mlmodelc"), "\(error)")
        }
    }

    @Test func truncatedTextsAreRefused() throws {
        for count in stride(from: 0, to: Self.good.count - 1, by: 7) {
            #expect(throws: MLPackageError.self) { try read(String(Self.good.prefix(count))) }
        }
    }

    @Test func compiledNeuralNetworksAreRefused() throws {
        let folder = scratch.path("b.mlmodelc")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: folder + "/model.espresso.net"))
        do {
            _ = try MLPackage(contentsOfCompiled: folder)
            Issue.record("it is read")
        } catch {
            #expect(error.rule.contains("model.espresso.net"))
            #expect(error.remedy.contains(".mlmodel"))
        }
    }
}
