import Foundation
import RetintCheckpoints
import RetintEngine
import RetintFiles
import RetintGraph
import RetintONNXReading
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintArchitectures

/// What a network of an ONNX file takes and gives, and how that becomes a colorizer.
@Suite struct ImportedInterfaceTests {
    private let scratch = Result { try TemporaryFolder() }

    /// Writes nodes as a file. `x` is the input, [N, 1, H, W] unless stated; `w` a kernel of 1 × 1
    /// with 2 output channels, `v` one with 1.
    private func file(
        _ nodes: [ONNXNode], outputs: [String], input: [ONNXValueInfo.Dimension]? = nil,
        type: ONNXElementType = .float, inputs: [String] = ["x"],
        metadata: [String: String] = [:]
    ) throws -> String {
        let dimensions = input ?? [.symbolic("n"), .fixed(1), .symbolic("h"), .symbolic("w")]
        let model = ONNXModel(
            opset: 17, producer: "test", metadata: metadata,
            inputs: inputs.map { ONNXValueInfo(name: $0, type: type, dimensions: dimensions) },
            outputs: outputs.map { ONNXValueInfo(name: $0, type: .float, dimensions: nil) },
            nodes: nodes,
            initializers: [
                "w": ONNXTensor(floats: [0.5, -0.25], dimensions: [2, 1, 1, 1]),
                "v": ONNXTensor(floats: [0.5], dimensions: [1, 1, 1, 1]),
                "/layer/optimizer.weight": ONNXTensor(floats: [3], dimensions: [1, 1, 1, 1]),
                "optimizer.bias": ONNXTensor(floats: [2, 1], dimensions: [2]),
                "axis": ONNXTensor(integers: [0]),
            ])
        let path = try scratch.get().path("\(UUID().uuidString).onnx")
        try Data(try model.bytes()).write(to: URL(filePath: path))
        return path
    }

    private static let head = ONNXNode("Conv", ["x", "w"], ["ab"])

    private func colors(_ checkpoint: Checkpoint, of lightness: Float) throws -> [Float] {
        let input = TensorData(shape: [1, 1, 1, 1], scalars: [lightness])
        return try checkpoint.colors(of: input).scalars
    }

    @Test func rangesAreThoseAskedForOrStated() throws {
        let path = try file([Self.head], outputs: ["ab"])
        let inside = try Checkpoint.importing(onnx: path).checkpoint
        #expect(try colors(inside, of: 70) == [35, -17.5])
        let outside = try Checkpoint.importing(onnx: path, form: .outside).checkpoint
        #expect(outside.network.definition?.normalization == .outside)
        #expect(try colors(outside, of: 70).map { ($0 * 100).rounded() / 100 } == [11, -5.5])
        let stated = try file(
            [Self.head], outputs: ["ab"], metadata: ["retint.normalization": "outside"])
        #expect(
            try Checkpoint.importing(onnx: stated).checkpoint.network.definition
                == outside.network.definition)
        #expect(
            try Checkpoint.importing(onnx: stated, form: .inside).checkpoint.network
                .definition?
                .normalization == .inside)
        let wrong = try file(
            [Self.head], outputs: ["ab"], metadata: ["retint.normalization": "both"])
        try expectRefusal(wrong, says: "it is \"both\", not inside or outside")
    }

    /// Where a network removes the axis of images, it takes one only, which is said.
    @Test func networksOfOneImageAreFound() throws {
        let single = [
            Self.head, ONNXNode("Squeeze", ["ab", "axis"], ["one"]),
            ONNXNode("Unsqueeze", ["one", "axis"], ["colors"]),
        ]
        let notes = try [([Self.head], "ab"), (single, "colors")].map { nodes, output in
            try Checkpoint.importing(onnx: file(nodes, outputs: [output])).notes
        }
        #expect(notes[0].isEmpty && notes[1].count == 1)
        #expect(
            notes[1].first?.hasPrefix("the network takes one image at a time: train it") == true)
    }

    @Test func twoPlanesAreJoinedByTheirNames() throws {
        let nodes = [
            ONNXNode("Conv", ["x", "v"], ["color_b"]), ONNXNode("Neg", ["color_b"], ["color_a"]),
        ]
        let path = try file(nodes, outputs: ["color_b", "color_a"])
        let checkpoint = try Checkpoint(contentsOf: path)
        #expect(try colors(checkpoint, of: 10) == [-5, 5])
        let written = try scratch.get().path("planes.h5")
        try checkpoint.write(to: written)
        #expect(try colors(Checkpoint(contentsOf: written), of: 10) == [-5, 5])
    }

    @Test func outputsAreFoundByTheirShape() throws {
        let nodes = [Self.head, ONNXNode("Relu", ["x"], ["other"])]
        let path = try file(nodes, outputs: ["other", "ab"])
        #expect(try Checkpoint(contentsOf: path).network.definition?.outputs == .joint("ab"))
        let two = try file([Self.head, ONNXNode("Neg", ["ab"], ["ba"])], outputs: ["ab", "ba"])
        try expectRefusal(two, says: "\"ab\" and \"ba\" can both be the colors")
        let chosen = try Checkpoint.importing(onnx: two, outputs: ["ba"]).checkpoint
        #expect(try colors(chosen, of: 10) == [-5, 2.5])
        #expect(chosen.network.definition?.model.outputs.map(\.name) == ["ba"])
        try expectRefusal(two, outputs: ["none"], says: "there is none named \"none\"")
        let gray = try file([ONNXNode("Relu", ["x"], ["y"])], outputs: ["y"])
        try expectRefusal(gray, says: "none is [1, 2, ")
    }

    /// Numbers of a formula are not trained, in a checkpoint either.
    @Test func constantsStayConstants() throws {
        let scale = ONNXTensor(floats: [2, 3], dimensions: [1, 2, 1, 1])
        let kernel = ONNXTensor(floats: [1, 0, 0, 1], dimensions: [2, 2, 1, 1])
        let nodes = [
            ONNXNode("Constant", [], ["scale"], ["value": .tensor(scale)]),
            ONNXNode("Constant", [], ["kernel"], ["value": .tensor(kernel)]),
            ONNXNode("Conv", ["x", "w"], ["y"]), ONNXNode("Conv", ["y", "kernel"], ["z"]),
            ONNXNode("Mul", ["z", "scale"], ["ab"]),
        ]
        let checkpoint = try Checkpoint(contentsOf: file(nodes, outputs: ["ab"]))
        #expect(checkpoint.state.names == ["w"])
        let path = try scratch.get().path("constants.h5")
        try checkpoint.write(to: path)
        let read = try Checkpoint(contentsOf: path)
        #expect(read == checkpoint)
        #expect(try colors(read, of: 8) == [8, -6])
    }

    /// What a checkpoint could not hold is refused before it is written.
    @Test func largeConstantsAreRefused() throws {
        let count = NetworkDefinition.maximumBytes / 4
        let table = ONNXTensor(
            floats: .init(repeating: 1, count: count), dimensions: [1, 1, 1, count])
        let nodes = [
            ONNXNode("Constant", [], ["table"], ["value": .tensor(table)]),
            ONNXNode("ReduceMax", ["x"], ["m"]), ONNXNode("Max", ["m", "table"], ["long"]),
            ONNXNode("ReduceMax", ["long"], ["one"]),
            ONNXNode("Conv", ["x", "w"], ["y"]), ONNXNode("Max", ["y", "one"], ["ab"]),
        ]
        try expectRefusal(file(nodes, outputs: ["ab"]), says: "take 16777")
    }

    @Test func weightsGetNamesThatSuitACheckpoint() throws {
        let nodes = [
            ONNXNode("Conv", ["x", "/layer/optimizer.weight"], ["y"]),
            ONNXNode("Conv", ["y", "w", "optimizer.bias"], ["ab"]),
        ]
        let checkpoint = try Checkpoint(contentsOf: file(nodes, outputs: ["ab"]))
        #expect(checkpoint.state.names == ["layer.optimizer.weight", "w", "_optimizer.bias"])
        let path = try scratch.get().path("a.h5")
        try checkpoint.write(to: path)
        #expect(try Checkpoint(contentsOf: path) == checkpoint)
    }

    @Test func whatIsNoColorizerIsRefused() throws {
        let image: [ONNXValueInfo.Dimension] = [.fixed(1), .fixed(4), .fixed(8), .fixed(8)]
        let cases: [(String, String)] = [
            (try file([Self.head], outputs: ["ab"], input: image), "it is 1 × 4 × 8 × 8, not N"),
            (
                try file([Self.head], outputs: ["ab"], input: [.fixed(1), .fixed(1)]),
                "it is 1 × 1, not N"
            ),
        ]
        for (path, words) in cases { try expectRefusal(path, says: words) }
        try expectRefusal(
            file([Self.head], outputs: ["ab"], type: .int64), says: "its elements are int64")
        let hints = ONNXNode("Add", ["x", "hints"], ["sum"])
        let both = [hints, ONNXNode("Conv", ["sum", "w"], ["ab"])]
        try expectRefusal(
            file(both, outputs: ["ab"], inputs: ["x", "hints"]),
            says: "there are 2 (\"x\", \"hints\"); a colorizer takes one")
        try expectRefusal(
            file([Self.head], outputs: ["ab"], metadata: ["retint.input": "image"]),
            says: "it is of pixels, not of lightness")
        let unknown = [
            ONNXNode("Loop", ["x"], ["y"]), ONNXNode("Fancy", ["y"], ["z"]),
            ONNXNode("Conv", ["z", "w"], ["ab"]),
        ]
        try expectRefusal(file(unknown, outputs: ["ab"]), says: "2 operations are not supported")
        let constant = ONNXNode(
            "Constant", [], ["ab"],
            ["value": .tensor(ONNXTensor(floats: [1, 2], dimensions: [1, 2, 1, 1]))])
        try expectRefusal(
            file([constant, ONNXNode("Relu", ["x"], ["y"])], outputs: ["ab", "y"]),
            says: "none is")
    }

    private func expectRefusal(
        _ path: String, outputs: [String] = [], says words: String,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let error = #expect(throws: ONNXError.self, sourceLocation: location) {
            try Checkpoint.importing(onnx: path, outputs: outputs)
        }
        #expect(error?.file == path, sourceLocation: location)
        #expect(
            error?.description.contains(words) == true, "\(error?.description ?? "")",
            sourceLocation: location)
    }
}
