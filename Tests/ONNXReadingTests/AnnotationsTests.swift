import Foundation
import RetintFiles
import RetintONNXProto
import RetintTestSupport
import Testing

@testable import RetintONNXReading

/// Copies of a file whose nodes have properties.
struct AnnotationsTests {
    private let folder: TemporaryFolder
    private let annotations = ONNXAnnotations(
        nodes: ["first.out": [("retint.snr_db", "90")], "deep.Relu": [("retint.snr_db", "80")]],
        model: [("retint.passed", "true")])

    init() throws { folder = try TemporaryFolder() }

    private func copied(_ maker: ModelMaker, to name: String = "copy.onnx") throws -> ONNXModelProto
    {
        try maker.write(to: folder.path("model.onnx"))
        try annotations.write(copyOf: folder.path("model.onnx"), to: folder.path(name))
        let bytes = try Data(contentsOf: URL(filePath: folder.path(name)))
        return try ONNXModelProto(serializedBytes: bytes)
    }

    private func maker(_ tensor: ONNXTensorProto) -> ModelMaker {
        var maker = ModelMaker.of("Add", input: [4], tensor)
        let last = maker.proto.graph.node[0].output[0]
        maker.proto.graph.node[0].output[0] = "first.out"
        maker.proto.graph.node[0].name = ""
        var relu = ONNXNodeProto()
        (relu.name, relu.opType, relu.input, relu.output) = (
            "/deep/Relu", "Relu", ["first.out"], [last]
        )
        var old = ONNXStringStringEntryProto()
        (old.key, old.value) = ("retint.snr_db", "1")
        var other = ONNXStringStringEntryProto()
        (other.key, other.value) = ("namespace", "deep")
        relu.metadataProps = [old, other]
        maker.proto.graph.node.append(relu)
        return maker
    }

    private func text(_ properties: [ONNXStringStringEntryProto]) -> [String] {
        properties.map { "\($0.key)=\($0.value)" }
    }

    /// Nodes are found by an output or by their path; what they had is kept or replaced.
    @Test func nodesHaveTheirProperties() throws {
        let maker = maker(.floats("c", [1, 2, 3, 4]))
        let copy = try copied(maker)
        let nodes = copy.graph.node
        #expect(nodes.map(\.name) == ["first.out", "/deep/Relu"])
        #expect(text(nodes[0].metadataProps) == ["retint.snr_db=90"])
        #expect(text(nodes[1].metadataProps) == ["namespace=deep", "retint.snr_db=80"])
        #expect(text(copy.metadataProps) == ["retint.passed=true"])
        #expect(copy.graph.initializer == maker.proto.graph.initializer)
        #expect(
            try ONNXAnnotations.titles(inFileAt: folder.path("copy.onnx"))
                == ["first.out": "first.out", "deep.Relu": "/deep/Relu"])
    }

    /// Fields that are not read are in the copy.
    @Test func otherFieldsAreKept() throws {
        // Field 30 of the model, a text.
        let unknown: [UInt8] = [0xF2, 0x01, 2, 0x68, 0x69]
        let path = folder.path("model.onnx")
        try (maker(.floats("c", [1, 2, 3, 4])).data() + unknown).write(to: URL(filePath: path))
        try annotations.write(copyOf: path, to: folder.path("copy.onnx"))
        let bytes = try Data(contentsOf: URL(filePath: folder.path("copy.onnx")))
        #expect(bytes.range(of: Data(unknown)) != nil)
    }

    /// Elsewhere, the copy would not find its weights.
    @Test func externalWeightsStayBesideTheCopy() throws {
        try Data(count: 16).write(to: URL(filePath: folder.path("weights")))
        let maker = maker(.external("c", [4], location: "weights", offset: "0"))
        #expect(try copied(maker).graph.initializer == maker.proto.graph.initializer)
        try FileManager.default.createDirectory(
            atPath: folder.path("other"), withIntermediateDirectories: false)
        let error = try #require(throws: ONNXError.self) {
            try copied(maker, to: "other/copy.onnx")
        }
        #expect(error.remedy.contains("same folder"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("other/copy.onnx")))
        // By another path to the same folder.
        #expect(try copied(maker, to: "other/../copy.onnx").graph.node.count == 2)
    }

    @Test func aDamagedFileIsNamed() throws {
        let path = folder.path("model.onnx")
        try Data([1, 2, 3]).write(to: URL(filePath: path))
        let error = try #require(throws: ONNXError.self) {
            try annotations.write(copyOf: path, to: folder.path("copy.onnx"))
        }
        #expect(error.file == path)
        #expect(!FileManager.default.fileExists(atPath: folder.path("copy.onnx")))
    }
}
