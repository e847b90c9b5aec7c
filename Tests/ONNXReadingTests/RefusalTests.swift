import Foundation
import RetintFiles
import RetintGraph
import RetintONNXProto
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintONNXReading

/// Files that cannot be read or run are refused, with the file, the place and the rule.
@Suite struct RefusalTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("net.onnx") }

    init() throws { folder = try TemporaryFolder() }

    /// Reads a file and adds its network to a graph with the input that it states.
    private func use(_ data: Data) throws {
        try data.write(to: URL(filePath: path))
        let model = try ONNXModel(contentsOf: path)
        try naming(path) {
            let graph = Graph()
            let inputs = model.inputs.map { input in
                let shape = Shape((input.extents ?? []).map { $0 ?? 8 })
                return (input.name, ONNXValue.tensor(graph.input(input.name, shape), input.type))
            }
            for (_, value) in try model.build(
                in: graph, inputs: Dictionary(uniqueKeysWithValues: inputs))
            where value.dimensions.contains(0) {
                throw ONNXError(rule: "its output is empty")
            }
        }
    }

    @Test(
        arguments: RefusedModel.structures + RefusedModel.tensors + RefusedModel.operations
            + RefusedModel.constants)
    func refuses(_ testCase: RefusedModel) throws {
        let error = try #require(throws: ONNXError.self) { try use(testCase.make().data()) }
        #expect(error.file == path)
        #expect(error.description.contains(testCase.words), "\(error)")
        #expect(error.description.utf8.count < 1000 && !error.description.contains("\u{1b}"))
    }

    /// All operations that are missing are named at once, each with its first node.
    @Test func namesAllUnknownOperations() throws {
        var maker = ModelMaker()
        maker.node("NonZero", ["x"], ["a"])
        maker.node("Loop", ["a"], ["b"])
        maker.node("NonZero", ["b"], ["c"])
        maker.proto.graph.node[maker.node("Fancy", ["c"], ["y"])].domain = "my.domain"
        maker.node("Unused", ["x"], ["z"])
        let error = try #require(throws: ONNXError.self) { try use(maker.data()) }
        #expect(
            error.rule == "3 operations are not supported: NonZero (\"the NonZero\" and 1 more), "
                + "Loop (\"the Loop\"), my.domain::Fancy (\"the Fancy\")")
    }

    @Test func namesOfFilesAreCutAndEscaped() throws {
        var maker = ModelMaker()
        let name = "\u{1b}[31m" + String(repeating: "e\u{301}", count: 1 << 20)
        maker.proto.graph.node[maker.node("Split", ["x"], ["y"])].name = name
        maker.proto.graph.node[0].attribute = [.integer("axis", 12)]
        let error = try #require(throws: ONNXError.self) { try use(maker.data()) }
        #expect(error.place.utf8.count < 400 && error.place.hasPrefix(#"node "\u{1B}[31m"#))
    }

    @Test(
        arguments: [
            ("../weights", "must not have", nil, nil), ("/etc/passwd", "absolute", nil, nil),
            ("missing", "not next to", nil, nil), ("link", "links are not followed", nil, nil),
            ("linked/weights", "links are not followed", nil, nil),
            ("", "must not be empty", nil, nil),
            ("folder", "directory", nil, nil), ("weights", "bytes 8 to 8+16 are not in", "8", nil),
            ("weights", "bytes 9223372036854775807", "9223372036854775807", nil),
            ("weights", "offset \"-1\"", "-1", nil), ("weights", "offset \"x\"", "x", nil),
            ("weights", "needs 16 bytes of external data, not 15", "0", "15"),
            ("weights", "length \"99999999999999999999\"", nil, "99999999999999999999"),
        ] as [(String, String, String?, String?)])
    func refusesWeights(
        _ location: String, _ words: String, _ offset: String?, _ length: String?
    ) throws {
        let files = FileManager.default
        try Data(count: 16).write(to: URL(filePath: folder.path("weights")))
        try files.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: true)
        try files.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("weights"))
        try files.createSymbolicLink(
            atPath: folder.path("linked"), withDestinationPath: folder.path)
        let tensor = ONNXTensorProto.external(
            "c", [4], location: location, offset: offset, length: length)
        let maker = ModelMaker.of("Add", input: [4], tensor)
        let error = try #require(throws: (any Error).self) { try use(maker.data()) }
        #expect(error is ONNXError || error is FileError, "\(error)")
        #expect("\(error)".contains(words), "\(error)")
        // The same with the file where it should be.
        let fine = ONNXTensorProto.external("c", [4], location: "weights", offset: "0")
        try use(ModelMaker.of("Add", input: [4], fine).data())
    }

    /// Tensors may share bytes, but not so that a small file takes much memory.
    @Test func refusesManyCopiesOfExternalData() throws {
        let count = 5 << 20
        try Data(count: 4 * count).write(to: URL(filePath: folder.path("weights")))
        func tensor(_ name: String) -> ONNXTensorProto {
            .external(name, [Int64(count)], location: "weights", offset: "0")
        }
        var maker = ModelMaker.of("Add", input: [Int64(count)], tensor("c"))
        for index in 1...3 { maker.proto.graph.initializer.append(tensor("c\(index)")) }
        try use(maker.data())
        maker.proto.graph.initializer.append(tensor("c4"))
        let error = try #require(throws: ONNXError.self) { try use(maker.data()) }
        #expect(error.rule.contains("take \(20 * count) bytes from files of \(4 * count)"))
    }

    /// What lies deeper than the parts are counted is not read.
    @Test func refusesDeepSubgraphs() throws {
        func nested(_ depth: Int) -> ONNXGraphProto {
            var (graph, node, attribute) = (
                ONNXGraphProto(), ONNXNodeProto(), ONNXAttributeProto()
            )
            guard depth > 0 else { return graph }
            (attribute.name, attribute.g) = ("then_branch", nested(depth - 1))
            (node.opType, node.attribute) = ("If", [attribute])
            graph.node = [node]
            return graph
        }
        var maker = ModelMaker.of("Relu", input: [4])
        maker.proto.graph.node += nested(25).node
        let error = try #require(throws: ONNXError.self) { try use(maker.data()) }
        #expect(error.rule.contains("it is not an ONNX model"), "\(error)")
    }

    /// Small files that would take much memory or time.
    @Test func refusesTooManyParts() throws {
        var info = ModelMaker()
        info.node("Relu", ["x"], ["y"])
        // Before or after a group, which the parser skips.
        for group in [[], [0xFB, 0x07, 0xFC, 0x07]] as [[UInt8]] {
            // Empty nodes and empty descriptions of values, in 2 bytes each.
            for field: UInt8 in [0x0A, 0x6A] {
                let body = (0..<2_200_000).map { $0 % 2 == 0 ? field : 0 }
                let error = try #require(throws: ONNXError.self) {
                    try use(Data(group) + info.data() + part(0x3A, body))
                }
                #expect(error.rule.contains("it describes too much"), "\(error)")
            }
        }
    }

    /// A field of a message.
    private func part(_ key: UInt8, _ body: [UInt8]) -> Data {
        var bytes = [key]
        var count = body.count
        while count >= 0x80 {
            bytes.append(UInt8(count & 0x7F) | 0x80)
            count >>= 7
        }
        return Data(bytes + [UInt8(count)] + body)
    }

    /// Chains are as long as the file; nothing recurs.
    @Test func readsLongChains() throws {
        var maker = ModelMaker()
        maker.proto.graph.node = (0..<20_000).map { index in
            ModelMaker.node("Neg", [index == 0 ? "x" : "v\(index)"], ["v\(index + 1)"])
        }
        maker.proto.graph.output[0].name = "v20000"
        try use(maker.data())
    }

    /// A network with most kinds of parts.
    private func network() throws -> Data {
        var maker = ModelMaker(input: [1, 2, 8, 8])
        maker.proto.graph.initializer = [
            .floats("w", (0..<36).map { Float($0) / 36 }, [2, 2, 3, 3]), .floats("b", [1, 2]),
            .floats("s", [1, 1, 2, 2]), .integers("i", [0, 0, 1, 1, 0, 0, 1, 1]),
            .integers("shape", [0, -1]), .integers("one", [1]),
        ]
        maker.node("Pad", ["x", "i"], ["p"], [.string("mode", "reflect")])
        maker.node("Conv", ["p", "w", "b"], ["c"], [.integers("strides", [2, 2])])
        maker.node("Resize", ["c", "", "s"], ["r"], [.string("mode", "linear")])
        maker.node("Concat", ["r", "x"], ["j"], [.integer("axis", 1)])
        maker.node("Slice", ["j", "one", "i", "one"], ["n"])
        maker.node("LeakyRelu", ["j"], ["l"], [.float("alpha", 0.2)])
        maker.node("Shape", ["l"], ["d"])
        maker.node("Gather", ["d", "one"], ["g"])
        maker.node("Expand", ["g", "shape"], ["e"])
        maker.node("Reshape", ["l", "shape"], ["y"])
        return try maker.data()
    }

    @Test func refusesWhatIsCutOff() throws {
        let whole = try network()
        try use(whole)
        for count in stride(from: 0, to: whole.count, by: 7) {
            let error = #expect(throws: ONNXError.self) { try use(whole.prefix(count)) }
            #expect(error?.file == path)
        }
    }

    /// Bytes at random places become random: read, or refused.
    @Test func survivesDamage() throws {
        let whole = try network()
        var draws = 0
        func draw(below limit: Int) -> Int {
            draws += 1
            return Int(CaseValues.splitMix(8, draws) % UInt64(limit))
        }
        var refused = 0
        for _ in 0..<3000 {
            var data = whole
            for _ in 0...draw(below: 4) {
                data[draw(below: data.count)] = UInt8(draw(below: 256))
            }
            do {
                try use(data)
            } catch let error as ONNXError {
                refused += 1
                #expect(error.file == path && !error.rule.isEmpty)
            }
        }
        #expect(refused > 500, "\(refused) of 3000 were refused")
    }
}
