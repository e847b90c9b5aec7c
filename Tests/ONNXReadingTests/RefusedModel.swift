import RetintONNXProto

/// A model that is refused, and words of the reason.
struct RefusedModel: Sendable, CustomStringConvertible {
    let description: String
    let words: String
    let make: @Sendable () -> ModelMaker

    init(_ description: String, _ words: String, _ make: @escaping @Sendable () -> ModelMaker) {
        (self.description, self.words, self.make) = (description, words, make)
    }

    /// A change of a model that is fine.
    static func changed(
        _ description: String, _ words: String,
        _ change: @escaping @Sendable (inout ModelMaker) -> Void
    ) -> RefusedModel {
        RefusedModel(description, words) {
            var maker = ModelMaker.of("Relu")
            change(&maker)
            return maker
        }
    }

    private static let huge: Int64 = 1 << 62

    static let structures: [RefusedModel] = [
        changed("no graph", "no graph") { $0.proto.clearGraph() },
        changed("no version", "no version") { $0.proto.clearIrVersion() },
        changed("a later version", "its format is version 99") { $0.proto.irVersion = 99 },
        changed("opset 6", "opset 6; opsets 7 to 21") { $0.proto.opsetImport[0].version = 6 },
        changed("opset 22", "opset 22; opsets 7 to 21") { $0.proto.opsetImport[0].version = 22 },
        changed("an opset out of range", "opset") { $0.proto.opsetImport[0].version = .min },
        changed("two opsets", "names 2 versions") { maker in
            maker.proto.opsetImport.append(maker.proto.opsetImport[0])
        },
        changed("no outputs", "no outputs") { $0.proto.graph.output = [] },
        changed("an output that nothing computes", "nothing computes it") {
            $0.proto.graph.output[0].name = "z"
        },
        changed("an output twice", "two outputs have the same name") { maker in
            maker.proto.graph.output.append(maker.proto.graph.output[0])
        },
        changed("a cycle", "without cycles") { maker in
            maker.proto.graph.node[0].input = ["z"]
            maker.node("Relu", ["y"], ["z"])
        },
        changed("a node of itself", "without cycles") { $0.proto.graph.node[0].input = ["y"] },
        changed("an unknown input", "its input \"z\" is not computed") {
            $0.proto.graph.node[0].input = ["z"]
        },
        changed("no inputs", "its input 0 is missing") { $0.proto.graph.node[0].input = [] },
        changed("a node without outputs", "it has no outputs") {
            $0.proto.graph.node[0].output = [""]
        },
        changed("a value twice", "\"y\" is defined twice") { $0.node("Relu", ["x"], ["y"]) },
        changed("a long name", "must have 1 to") { maker in
            maker.proto.graph.input[0].name = String(repeating: "a", count: 1 << 20)
        },
        changed("a name with a zero", "no zeros") { $0.proto.graph.input[0].name = "x\0" },
        changed("a foreign domain", "com.microsoft::Relu") {
            $0.proto.graph.node[0].domain = "com.microsoft"
        },
        changed("an input of texts", "not a tensor of numbers") {
            $0.proto.graph.input[0] = ModelMaker.info("x", [1], type: 8)
        },
        changed("an input of no type", "not a tensor of numbers") {
            $0.proto.graph.input[0].clearType()
        },
        changed("a negative extent", "the extent -1 is negative") {
            $0.proto.graph.input[0] = ModelMaker.info("x", [1, -1])
        },
        changed("a huge extent", "out of range") {
            $0.proto.graph.input[0] = ModelMaker.info("x", [huge])
        },
        changed("a huge shape", "more than") {
            $0.proto.graph.input[0] = ModelMaker.info("x", [1 << 32, 1 << 32])
        },
        changed("nine axes", "9 axes") {
            $0.proto.graph.input[0] = ModelMaker.info("x", [Int64](repeating: 1, count: 9))
        },
        changed("sparse weights", "sparse") { $0.proto.graph.sparseInitializer = [.init()] },
        changed("an attribute twice", "two attributes alpha") {
            $0.proto.graph.node[0].attribute = [.float("alpha", 1), .float("alpha", 1)]
        },
        changed("an attribute of a function", "refers to a function's attribute") { maker in
            var attribute = ONNXAttributeProto.float("alpha", 1)
            attribute.refAttrName = "beta"
            maker.proto.graph.node[0].attribute = [attribute]
        },
        changed("a second output", "its output 1 is not supported") { maker in
            maker.proto.graph.node[0].output = ["y", "z"]
        },
        changed("control flow", "2 operations are not supported: If (\"the If\"), Loop") { maker in
            maker.proto.graph.node = []
            maker.node("If", ["x"], ["a"], [.graph("then_branch", maker.proto.graph)])
            maker.node("Loop", ["a"], ["y"], [.graph("body", maker.proto.graph)])
        },
        RefusedModel("graphs in graphs", "it is not an ONNX model") {
            var graph = ONNXGraphProto()
            for _ in 0..<200 {
                var node = ONNXNodeProto()
                (node.opType, node.output) = ("If", ["y"])
                node.attribute = [.graph("then_branch", graph)]
                graph.node = [node]
            }
            return ModelMaker.of("Relu", attributes: .graph("g", graph))
        },
    ]

    static let tensors: [RefusedModel] = [
        ("too few elements", "needs 4 elements, not 3", .floats("c", [1, 2, 3], [4])),
        ("a negative shape", "out of range", .floats("c", [], [-1])),
        ("a shape that overflows", "out of range", .floats("c", [], [huge, 4])),
        (
            "an empty shape whose strides overflow", "more than",
            .floats("c", [], [0, 1 << 32, 1 << 32])
        ),
        ("texts", "elements of string", tensor(8)), ("complex numbers", "complex64", tensor(14)),
        ("8-bit floats", "elements of type 17", tensor(17)), ("no type", "type 0", tensor(0)),
        ("an unknown type", "type -5", tensor(-5)),
        ("nine axes", "9 axes", .floats("c", [1], [Int64](repeating: 1, count: 9))),
        ("raw bytes that do not fill the shape", "needs 16 bytes", raw([1, 2, 3])),
    ].map { name, words, tensor in
        RefusedModel("a weight with \(name)", words) { ModelMaker.of("Add", tensor) }
    }

    private static func tensor(_ type: Int32) -> ONNXTensorProto {
        var tensor = ONNXTensorProto.floats("c", [1])
        tensor.dataType = type
        return tensor
    }

    private static func raw(_ bytes: [UInt8]) -> ONNXTensorProto {
        var tensor = ONNXTensorProto.floats("c", [], [4])
        tensor.rawData = .init(bytes)
        return tensor
    }
}
