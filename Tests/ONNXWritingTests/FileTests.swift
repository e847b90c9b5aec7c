import Foundation
import RetintMLPackage
import RetintONNXCases
import RetintONNXProto
import RetintONNXWriting
import RetintTestSupport
import Testing

/// The file around the graph.
@Suite struct FileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func model(_ name: String = "net.onnx") throws -> ONNXModelProto {
        try ONNXModelProto(
            serializedBytes: Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
    }

    private func makePackage(_ name: String = "shift_scale by channel") throws -> MLPackage {
        try #require(ProgramCase.all.first { $0.name == name }).makePackage()
    }

    @Test(arguments: [(11, 6), (12, 7), (14, 7), (15, 8), (18, 8), (19, 9), (20, 9), (21, 10)])
    func statesVersions(_ opset: Int, _ fileVersion: Int64) throws {
        var options = ONNXOptions(opset: opset)
        options.producerVersion = "1.2"
        try ONNXNetwork(makePackage("conv"), options).write(to: folder.path("net.onnx"))
        let model = try model()
        #expect(model.irVersion == fileVersion)
        #expect(model.opsetImport.map(\.version) == [Int64(opset)])
        #expect(model.producerName == "retint" && model.producerVersion == "1.2")
    }

    @Test func keepsMetadata() throws {
        var package = try makePackage()
        package.metadata.author = "The photo lab"
        package.metadata.version = "7"
        package.metadata.shortDescription = "Colors"
        package.metadata.userDefined = ["retint.architecture": "pico-unet", "shop": "b"]
        try ONNXNetwork(package).write(to: folder.path("net.onnx"))
        let model = try model()
        #expect(model.modelVersion == 7 && model.docString == "Colors")
        #expect(model.graph.name == "pico-unet")
        #expect(
            model.metadataProps.map { "\($0.key)=\($0.value)" } == [
                "author=The photo lab", "description=Colors", "retint.architecture=pico-unet",
                "shop=b", "version=7",
            ])
    }

    /// Sizes that vary have names; what ONNX cannot say about them is said.
    @Test func namesSizes() throws {
        var package = try makePackage("relu")
        let shapes = [[1, 4, 6, 8], [1, 4, 12, 8]]
        package.description.inputs[0].type = .multiArray(
            ArrayFeature(.float32, shapes[0], .enumerated(shapes)))
        let type = MILTensorType(.float32, [1, 4, nil, 8])
        package.program.inputs[0].type = type
        package.program.operations[0].outputs[0].type = type
        let network = try ONNXNetwork(package)
        #expect(network.notes.count == 1 && network.notes[0].contains("[1, 4, 12, 8]"))
        try network.write(to: folder.path("net.onnx"))
        let graph = try model().graph
        #expect(graph.input[0].docString.contains("[1, 4, 12, 8]"))
        #expect(graph.input[0].type.tensorType.shape.dim[2].dimParam == "height")
        #expect(graph.input[0].type.tensorType.shape.dim[3].dimValue == 8)
        #expect(graph.output[0].type.tensorType.shape.dim[2].dimParam == "y_height")
    }

    /// The elements are the same, wherever they are; the rest of the model is, too.
    @Test func putsWeightsInAFileOfTheirOwn() throws {
        let data = MILValue.floats((0..<512).map(Float.init), shape: [4, 128])
        var package = try makePackage("linear")
        let index = try #require(
            package.program.operations.firstIndex { $0.constantValue?.type.rank == 2 })
        package.program.operations[index].attributes["val"] = data
        let network = try ONNXNetwork(package)
        let whole = try network.write(to: folder.path("whole.onnx"))
        let parted = try network.write(to: folder.path("net.onnx"), externalData: true)
        #expect(whole == [folder.path("whole.onnx")])
        #expect(parted == [folder.path("net.onnx"), folder.path("net.onnx.data")])
        let (inner, outer) = try (model("whole.onnx").graph, model().graph)
        #expect(inner.node == outer.node && inner.initializer.count == outer.initializer.count)
        let content = try Data(contentsOf: URL(fileURLWithPath: folder.path("net.onnx.data")))
        let place = try #require(outer.initializer.first { $0.dataLocation == .external })
        let entries = Dictionary(
            uniqueKeysWithValues: place.externalData.map { ($0.key, $0.value) })
        #expect(entries == ["location": "net.onnx.data", "offset": "0", "length": "2048"])
        let stored = try #require(inner.initializer.first { $0.name == place.name })
        #expect(content == stored.rawData)
        #expect(outer.initializer.count { $0.dataLocation == .external } == 1)
    }

    @Test func writesTheSameBytes() throws {
        for name in ["a.onnx", "b.onnx"] {
            try ONNXNetwork(makePackage()).write(to: folder.path(name))
        }
        #expect(
            FileManager.default.contentsEqual(
                atPath: folder.path("a.onnx"), andPath: folder.path("b.onnx")))
    }

    @Test func refusesUnknownOperations() throws {
        var package = try makePackage("relu")
        package.program.operations[0].type = "unheard_of"
        let error = #expect(throws: (any Error).self) { try ONNXNetwork(package) }
        #expect("\(error as Any)".contains("unheard_of cannot be written as ONNX"))
    }
}
