import Foundation
import RetintCommandSupport
import RetintMLPackage
import RetintONNXReading
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Networks that are exported with the inputs and outputs of their files.
@Suite(.sampled()) struct OwnInterfaceTests {
    private let bench: CommandBench
    private let pair = goldenPath("networks/pair.mlpackage")
    private let photo = goldenPath("networks/photo.mlpackage")
    private let ddcolor = goldenPath("ddcolor/ddcolor.onnx", of: "CommandTests")

    init() throws { bench = try CommandBench() }

    private func features(_ package: String, _ role: String) throws -> [[String: Any]] {
        let shown = try bench.json(bench.expect(0, "inspect", package, "--json"))
        return try #require(shown[role] as? [[String: Any]])
    }

    private func types(_ package: String, _ role: String) throws -> [String] {
        try features(package, role).map {
            "\($0["name"] ?? "") \($0["type"] ?? "") \($0["shape"] ?? "")"
        }
    }

    private func verify(_ code: Int32, _ arguments: String...) throws {
        let result = try bench.run(["verify"] + arguments)
        #expect(result.code == code, "\(arguments): \(result.output) \(result.messages)")
    }

    private func write(_ model: ONNXModel, _ name: String) throws -> String {
        try bench.write(Data(model.bytes()), to: name)
    }

    private func value(
        _ name: String, _ extents: [Int?], _ type: ONNXElementType = .float
    ) -> ONNXValueInfo {
        ONNXValueInfo(
            name: name, type: type,
            dimensions: extents.map { $0.map { .fixed($0) } ?? .symbolic("") })
    }

    /// Words and a mask: the number of the largest sum of the words' vectors.
    ///
    /// - Parameter word: where it stands, the last output is 1.
    private func makeWords(marking word: Int = 7) throws -> String {
        let table = (0..<5000 * 4).map { (index: Int) -> Float in
            Float(index * 7919 % 1001) / 500 - 1
        }
        return try write(
            ONNXModel(
                opset: 17,
                inputs: [value("input.ids", [1, 6], .int64), value("mask", [1, 6], .bool)],
                outputs: [
                    value("best.word", [1, 6], .int64), value("vectors", [1, 6, 4]),
                    value("marks", [1, 6]), value("same", [1, 6]),
                ],
                nodes: [
                    ONNXNode("Gather", ["table", "input.ids"], ["words"], ["axis": .integer(0)]),
                    ONNXNode("Cast", ["mask"], ["weights"], ["to": .integer(1)]),
                    ONNXNode("Unsqueeze", ["weights", "last"], ["column"]),
                    ONNXNode("Mul", ["words", "column"], ["vectors"]),
                    ONNXNode(
                        "ArgMax", ["vectors"], ["best.word"],
                        ["axis": .integer(2), "keepdims": .integer(0)]),
                    ONNXNode("Equal", ["input.ids", "word"], ["found"]),
                    ONNXNode("Cast", ["found"], ["marks"], ["to": .integer(1)]),
                    ONNXNode("Identity", ["marks"], ["same"]),
                ],
                initializers: [
                    "table": ONNXTensor(floats: table, dimensions: [5000, 4]),
                    "last": ONNXTensor(integers: [2]), "word": ONNXTensor(integers: [word]),
                ]), "words.onnx")
    }

    /// A convolution with an open height and width.
    private func makeOpen() throws -> String {
        let kernel = (0..<3 * 3 * 9).map { (index: Int) -> Float in Float(index % 7) / 10 - 0.3 }
        return try write(
            ONNXModel(
                opset: 17, inputs: [value("image", [1, 3, nil, nil])],
                outputs: [value("result", [1, 3, nil, nil])],
                nodes: [
                    ONNXNode(
                        "Conv", ["image", "kernel"], ["edges"], ["pads": .integers([1, 1, 1, 1])]),
                    ONNXNode("Relu", ["edges"], ["result"]),
                ],
                initializers: ["kernel": ONNXTensor(floats: kernel, dimensions: [3, 3, 3, 3])]),
            "open.onnx")
    }

    /// Scores of words, of which each sees itself and those before it: the mask is computed.
    private func makeMasked() throws -> String {
        let places = (0..<8).map(Float.init)
        return try write(
            ONNXModel(
                opset: 17, inputs: [value("scores", [1, 8, 8])],
                outputs: [value("shares", [1, 8, 8])],
                nodes: [
                    ONNXNode("Less", ["rows", "columns"], ["later"]),
                    ONNXNode("Where", ["later", "never", "always"], ["mask"]),
                    ONNXNode("Add", ["scores", "mask"], ["masked"]),
                    ONNXNode("Softmax", ["masked"], ["shares"], ["axis": .integer(2)]),
                ],
                initializers: [
                    "rows": ONNXTensor(floats: places, dimensions: [8, 1]),
                    "columns": ONNXTensor(floats: places, dimensions: [1, 8]),
                    "never": ONNXTensor(floats: [-.infinity], dimensions: []),
                    "always": ONNXTensor(floats: [0], dimensions: []),
                ]), "masked.onnx")
    }

    /// coremltools 9 cannot read a package whose conditions are constants.
    @Test func whatDependsOnConstantsAloneIsComputed() throws {
        let network = try makeMasked()
        for precision in ["float32", "float16"] {
            let package = "\(precision).mlpackage"
            try bench.expect(0, "export", network, "-o", package, "--precision", precision)
            let shown = try bench.json(bench.expect(0, "inspect", package, "--json"))
            let types = try #require(shown["operations"] as? [String: Int]).keys
            #expect(!types.contains("select") && !types.contains("less"), "\(types)")
            try verify(0, package, "--against", network)
        }
    }

    @Test func inputsAndOutputsAreTheFilesOwn() throws {
        try bench.expect(0, ["export", pair, "-o", "pair.onnx"])
        try bench.expect(0, ["export", "pair.onnx", "-o", "own.mlpackage", "--target", "iOS16"])
        for role in ["inputs", "outputs"] {
            #expect(try types("own.mlpackage", role) == types(pair, role))
        }
        try verify(0, "own.mlpackage", "--against", "pair.onnx")
        try verify(
            0, "own.mlpackage", "--reference",
            goldenPath("networks/pair.h5", of: "CommandVerifyTests"))
        for form in ["onnx", "aimodel"] {
            try bench.expect(0, "export", "pair.onnx", "-o", "again.\(form)")
            try verify(0, "again.\(form)", "--against", "pair.onnx")
        }
        let half = ["export", "pair.onnx", "-o", "half.mlpackage", "--precision", "float16"]
        try bench.expect(0, half)
        let result = try bench.run([
            "verify", "half.mlpackage", "--against", "pair.onnx", "--find-precision", "--min-snr",
            "75", "-o", "mixed.mlpackage",
        ])
        #expect(result.code == 0, "\(result.output) \(result.messages)")
        #expect(try bench.expect(0, "inspect", "mixed.mlpackage").output.contains("mixed"))
    }

    @Test func integersStayIntegers() throws {
        let words = try makeWords()
        try bench.expect(0, "export", words, "-o", "w.mlpackage")
        #expect(
            try types("w.mlpackage", "inputs") == ["input_ids int32 [1, 6]", "mask int32 [1, 6]"])
        let outputs = try types("w.mlpackage", "outputs")
        #expect(
            outputs == [
                "best_word int32 [1, 6]", "vectors fp32 [1, 6, 4]", "marks fp32 [1, 6]",
                "same fp32 [1, 6]",
            ])
        let noise = ["--noise", "input_ids=integers:0..4999", "--noise", "mask=integers:0..1"]
        for seed in ["1", "2"] {
            let result = try bench.run(
                ["verify", "w.mlpackage", "--against", words, "--seed", seed] + noise)
            #expect(result.code == 0, "\(result.output) \(result.messages)")
        }
    }

    /// What takes no photos is calibrated on files of its inputs.
    @Test func inputsOfOtherKindsCalibrate() throws {
        try bench.expect(0, "export", makeWords(), "-o", "w.mlpackage")
        var inputs = StateDict()
        inputs["input_ids"] = StoredTensor(shape: [1, 6], integers: [1, 2, 3, 4, 5, 6])
        inputs["mask"] = StoredTensor(shape: [1, 6], integers: [1, 1, 1, 0, 1, 1])
        try inputs.write(to: bench.path("inputs.safetensors"))
        let repair = ["--repair", "--calibrate", "inputs.safetensors"]
        try bench.expect(0, ["quantize", "w.mlpackage", "-o", "q.mlpackage"] + repair)
        try bench.expect(0, ["export", "w.mlpackage", "-o", "e.mlpackage"] + repair)
        _ = try bench.makePhoto("a.png")
        try bench.expect(
            65, "quantize", "w.mlpackage", "-o", "r.mlpackage", "--repair", "--calibrate", "a.png",
            says: ["a.png"])
    }

    /// What reads the numbers of words stays in float32, where they are exact.
    @Test func float16DoesNotRoundIntegers() throws {
        let words = try makeWords(marking: 4099)
        try bench.expect(0, "export", words, "-o", "h.mlpackage", "--precision", "float16")
        let noise = ["--noise", "input_ids=integers:4098..4100", "--noise", "mask=integers:1..1"]
        let result = try bench.run(
            [
                "verify", "h.mlpackage", "--against", words, "--json", "--min-snr", "50",
            ] + noise)
        #expect(result.code == 0, "\(result.output) \(result.messages)")
        let report = try bench.json(result)
        #expect(report["precision"] as? String == "float16", "indices are not quantized")
        let outputs = try #require(report["outputs"] as? [String: [String: Any]])
        for name in ["best.word", "marks"] {
            #expect(outputs[name]?["max_abs_error"] as? Double == 0, "\(outputs)")
        }
    }

    @Test func imagesHaveTheStatedRange() throws {
        let open = try makeOpen()
        try bench.expect(
            0, "export", open, "-o", "i.mlpackage", "--input", "image", "--range", "imagenet",
            "--size", "24")
        let input = try #require(try features("i.mlpackage", "inputs").first)
        #expect(input["kind"] as? String == "image" && input["shape"] as? [Int] == [1, 3, 24, 24])
        try verify(0, "i.mlpackage", "--against", open)
        try verify(0, "i.mlpackage", "--against", open, "--photo", bench.makePhoto("a.png"))
        try verify(2, "i.mlpackage", "--against", open, "--range", "0..1")
        try bench.expect(0, "diff", "i.mlpackage", open)
        try bench.expect(0, "export", open, "-o", "t.mlpackage", "--size", "24")
        for (code, range) in [(0, "imagenet"), (2, "0..1")] as [(Int32, String)] {
            for pair in [["i.mlpackage", "t.mlpackage"], ["t.mlpackage", "i.mlpackage"]] {
                try verify(code, pair[0], "--against", pair[1], "--range", range)
            }
        }
        try bench.expect(0, "diff", "i.mlpackage", "t.mlpackage")
        try verify(65, photo, "--against", "t.mlpackage")
        // Without a range, nothing is known about the packages of others.
        try verify(65, photo, "--against", open)
        try verify(65, open, "--against", photo)
        try bench.expect(65, "diff", photo, open, says: ["--range"])
        // Stated, it counts whichever is the model.
        for (code, range) in [(2, "0..1"), (0, "imagenet")] as [(Int32, String)] {
            try verify(code, open, "--against", "i.mlpackage", "--size", "24", "--range", range)
        }
    }

    /// Float16 weights in an ONNX file are bounded by what half precision loses.
    @Test func halfPrecisionInONNXIsKnown() throws {
        let open = try makeOpen()
        try bench.expect(0, "export", open, "-o", "h.onnx", "--precision", "float16")
        let result = try bench.run(["verify", "h.onnx", "--against", open, "--json"])
        #expect(result.code == 0, "\(result.output) \(result.messages)")
        #expect(try bench.json(result)["precision"] as? String == "float16")
        // As a reference, it is as inexact.
        try verify(0, open, "--against", "h.onnx")
    }

    /// An image that comes out has the pixels of the network's values in the stated range.
    @Test func imagesThatComeOutAreInTheRange() throws {
        let open = try makeOpen()
        try bench.expect(
            0, "export", open, "-o", "i.mlpackage", "--input", "image", "--range", "0..1",
            "--size", "24")
        var package = try MLPackage(contentsOf: bench.path("i.mlpackage"))
        let result = package.program.outputs[0]
        var program = package.program
        let type = try #require(program.types[result])
        program.operations.append(
            MILOperation(
                "mul",
                inputs: ["x": [.name(result)], "y": [.value(.float(255))]],
                outputs: [MILNamedType("pixels", type)]))
        program.outputs = ["pixels"]
        package.program = program
        package.description.outputs = [
            Feature("pixels", .image(ImageFeature(width: 24, height: 24, colorSpace: .rgb)))
        ]
        try package.write(to: bench.path("o.mlpackage"))
        // Of 0 to 255 unless it is stated.
        try verify(2, "o.mlpackage", "--against", open, "--range", "0..1")
        let range = ["--range", "0..1", "--output-range"]
        try bench.expect(0, ["verify", "o.mlpackage", "--against", open] + range + ["0..1"])
        let wrong = try bench.run(["verify", "o.mlpackage", "--against", open] + range + ["0..2"])
        #expect(wrong.code == 2)
        try bench.expect(
            64, ["verify", "o.mlpackage", "--against", open] + range + ["imagenet"],
            says: ["--output-range"])
    }

    /// Files alone are compared as they were written.
    @Test func filesHaveTheirOwnInterface() throws {
        let open = try makeOpen()
        try bench.expect(0, "export", open, "-o", "t.mlpackage", "--size", "24")
        let result = try bench.run(["diff", "--no-run", open, "t.mlpackage", "--json"])
        let changes = try #require(try bench.json(result)["interface"] as? [[String: Any]])
        // The file leaves the size of the output open, which is no difference.
        #expect(changes.map { $0["place"] as? String } == ["input 1 shape"])
    }

    @Test func sizesAreThoseOfPhotos() throws {
        let open = try makeOpen()
        try bench.expect(0, "export", open, "-o", "s.mlpackage", "--sizes", "32,48x40")
        let list = try #require(try features("s.mlpackage", "inputs").first)
        #expect(list["enumerated_shapes"] as? [[Int]] == [[1, 3, 32, 32], [1, 3, 40, 48]])
        try bench.expect(
            0, "export", open, "-o", "r.mlpackage", "--min-size", "16", "--max-size", "64")
        let range = try #require(try features("r.mlpackage", "inputs").first)
        #expect(range["shape_range"] as? [[Int]] == [[1, 1], [3, 3], [16, 64], [16, 64]])
        for size in ["16", "50", "48x20"] {
            try verify(0, "r.mlpackage", "--against", open, "--size", size)
        }
        let shapes = try bench.run(
            ["verify", "r.mlpackage", "--against", open, "--size", "48x20", "--layers"])
        #expect(shapes.output.contains("[1, 3, 20, 48]"), "\(shapes.output)")
        // A size that both take, unless one is stated.
        try verify(0, open, "--against", "s.mlpackage")
        try verify(64, "r.mlpackage", "--against", open, "--size", "48x0")
        try bench.expect(
            64, ["export", open, "-o", "f.mlpackage", "--min-size", "16", "--max-size", "20000"],
            says: ["from 1 to 16384"])
        try bench.expect(0, ["export", pair, "-o", "pair.onnx"])
        try bench.expect(
            64, ["export", "pair.onnx", "-o", "f.mlpackage", "--size", "48"],
            says: ["only 32×32"])
        try bench.expect(
            64, ["export", try makeWords(), "-o", "f.mlpackage", "--size", "48"],
            says: ["none of the inputs"])
    }

    /// A file that leaves its size open although the network was traced for one.
    @Test func aTracedSizeIsFound() throws {
        let traced = try write(
            ONNXModel(
                opset: 17, inputs: [value("image", [1, 3, nil, nil])],
                outputs: [value("flat", [1, 3, nil])],
                nodes: [
                    ONNXNode("Reshape", ["image", "shape"], ["rows"]),
                    ONNXNode("Relu", ["rows"], ["flat"]),
                ],
                initializers: ["shape": ONNXTensor(integers: [1, 3, 96 * 96])]),
            "traced.onnx")
        try bench.expect(0, "export", traced, "-o", "traced.mlpackage")
        let input = try #require(try features("traced.mlpackage", "inputs").first)
        #expect(input["shape"] as? [Int] == [1, 3, 96, 96])
        try verify(0, "traced.mlpackage", "--against", traced)
        try bench.expect(
            64,
            [
                "export", traced, "-o", "f.mlpackage", "--size", "96", "--min-size", "64",
                "--max-size", "128",
            ], says: ["only 96×96"])
        let fixed = try write(
            ONNXModel(
                opset: 17, inputs: [value("image", [1, 3, 96, 96])],
                outputs: [value("flat", [1, 3, nil])],
                nodes: [ONNXNode("Reshape", ["image", "shape"], ["flat"])],
                initializers: ["shape": ONNXTensor(integers: [1, 3, 96 * 96])]),
            "fixed.onnx")
        try bench.expect(
            65, "verify", fixed, "--against", fixed, "--size", "64",
            says: ["fixed.onnx", "The file states image [1, 3, 96, 96]"])
        // At no size, the file is not called damaged.
        let never = try write(
            ONNXModel(
                opset: 17, inputs: [value("image", [1, 3, nil, nil])],
                outputs: [value("flat", [1, 3, nil])],
                nodes: [ONNXNode("Reshape", ["image", "shape"], ["flat"])],
                initializers: ["shape": ONNXTensor(integers: [1, 3, 101 * 103])]),
            "never.onnx")
        try bench.expect(
            65, ["export", never, "-o", "n.mlpackage"], says: ["leaves its sizes open"])
    }

    /// A package for one size says which it is, where the file leaves it open.
    @Test func theChosenSizeIsSaid() throws {
        let open = try makeOpen()
        let note = "leaves sizes of image open; it is written for"
        try bench.expect(
            0, "export", open, "-o", "o.mlpackage",
            says: ["\(note) 1×3×256×256 alone; --size, --sizes, or"])
        for (output, rest) in [
            ("s.mlpackage", ["--size", "64"]),
            ("r.mlpackage", ["--min-size", "64", "--max-size", "128"]),
        ] {
            let result = try bench.expect(0, ["export", open, "-o", output] + rest)
            #expect(!result.messages.contains(note))
        }
        let batches = try write(
            ONNXModel(
                opset: 17, inputs: [value("x", [nil, 5])], outputs: [value("y", [nil, 5])],
                nodes: [ONNXNode("Tanh", ["x"], ["y"])], initializers: [:]), "batches.onnx")
        let result = try bench.expect(
            0, "export", batches, "-o", "b.mlpackage",
            says: ["leaves sizes of x open; it is written for 1×5 alone"])
        #expect(!result.messages.contains("--size"))
    }

    /// An imported network has both interfaces.
    @Test func importedNetworksKeepTheirs() throws {
        try bench.expect(
            0, "import", ddcolor, "--input", "gray-rgb", "--range", "0..1", "--colors", "ab", "-o",
            "t.h5")
        try bench.expect(
            0, "export", "t.h5", "-o", "own.mlpackage", "--interface", "original", "--input",
            "image", "--range", "0..1")
        #expect(try features("own.mlpackage", "inputs").first?["name"] as? String == "gray")
        try verify(0, "own.mlpackage", "--against", "t.h5")
        try verify(0, "own.mlpackage", "--against", ddcolor)
        try bench.expect(
            0, "export", ddcolor, "-o", "l.mlpackage", "--interface", "retint", "--size", "64")
        #expect(try types("l.mlpackage", "inputs") == ["input fp32 [1, 1, 64, 64]"])
        try verify(0, "l.mlpackage", "--against", "t.h5")
        try verify(0, "l.mlpackage", "--against", ddcolor)
    }

    /// What attention masks is −∞, which products with 0 and 1 would spread.
    @Test(arguments: ["float32", "float16"]) func masksAreInfinite(_ precision: String) throws {
        let file = try write(
            ONNXModel(
                opset: 17, inputs: [value("scores", [1, 2, 2])],
                outputs: [value("shares", [1, 2, 2])],
                nodes: [
                    ONNXNode("Greater", ["scores", "bound"], ["seen"]),
                    ONNXNode("Where", ["seen", "scores", "nothing"], ["masked"]),
                    ONNXNode("Add", ["masked", "future"], ["causal"]),
                    ONNXNode("Softmax", ["causal"], ["shares"]),
                ],
                initializers: [
                    "bound": ONNXTensor(floats: [-100], dimensions: []),
                    "nothing": ONNXTensor(floats: [-.infinity], dimensions: []),
                    "future": ONNXTensor(floats: [0, -.infinity, 0, 0], dimensions: [2, 2]),
                ]), "mask.onnx")
        try bench.expect(0, "export", file, "-o", "m.mlpackage", "--precision", precision)
        try verify(0, "m.mlpackage", "--against", file)
        let shown = try bench.json(
            bench.expect(0, "verify", "m.mlpackage", "--against", file, "--json"))
        let output = (shown["outputs"] as? [String: [String: Any]])?["shares"]
        #expect(output?["peak"] as? Double == 1)
    }

    /// Parts of images, as Swin's windows are.
    private func makeWindows() throws -> String {
        try write(
            ONNXModel(
                opset: 17, inputs: [value("x", [1, 3, 8, 12])],
                outputs: [value("windows", [6, 3, 4, 4])],
                nodes: [
                    ONNXNode("Reshape", ["x", "split"], ["parts"]),
                    ONNXNode(
                        "Transpose", ["parts"], ["moved"],
                        ["perm": .integers([0, 2, 4, 1, 3, 5])]),
                    ONNXNode("Reshape", ["moved", "join"], ["joined"]),
                    ONNXNode("Tanh", ["joined"], ["windows"]),
                ],
                initializers: [
                    "split": ONNXTensor(integers: [1, 3, 2, 4, 3, 4]),
                    "join": ONNXTensor(integers: [6, 3, 4, 4]),
                ]), "windows.onnx")
    }

    /// A package of another program may have operations that a format does not have: those are
    /// expressed by others.
    @Test func operationsThatAFormatLacksAreExpressedByOthers() throws {
        let note = "written with other operations: "
        try bench.expect(
            0, "export", pair, "-o", "pair.aimodel",
            says: ["\(note)operation 18 (instance_norm, \"op_38\")"])
        try verify(0, "pair.aimodel", "--against", pair)
        let all = goldenPath("operations.mlpackage", of: "MILTests")
        try bench.expect(0, "export", all, "-o", "all.onnx", says: [note])
        let noise = ["image", "row", "volume", "sequence"].flatMap {
            ["--noise", "\($0)=uniform:-0.9..0.9"]
        }
        let result = try bench.run(
            ["verify", "all.onnx", "--against", all, "--noise", "ids=integers:0..2"] + noise)
        #expect(result.code == 0, "\(result.output) \(result.messages)")
        // Where others do not help, the package's own operation is named.
        try bench.expect(
            65, "export", all, "-o", "all.aimodel",
            says: ["only two spatial dimensions are written"])
        #expect(!FileManager.default.fileExists(atPath: bench.path("all.aimodel")))
    }

    /// Core ML has tensors of up to five axes.
    @Test func sixAxesBecomeFewer() throws {
        let windows = try makeWindows()
        try bench.expect(0, "export", windows, "-o", "w.mlpackage")
        try verify(0, "w.mlpackage", "--against", windows)
        let shown = try bench.json(
            bench.expect(0, "verify", "w.mlpackage", "--against", windows, "--json"))
        let layers = try #require(shown["layers"] as? [[String: Any]])
        let shapes = layers.compactMap { $0["shape"] as? [Int] }
        #expect(shapes.count == layers.count && shapes.allSatisfy { $0.count <= 5 }, "\(shapes)")
        #expect(shapes.contains([2, 3, 3, 4, 4]))
        // Values of six axes are cast with the axes that they have in the package.
        try bench.expect(
            0, "export", windows, "-o", "h.mlpackage", "--precision", "float16",
            "--keep-float32-types", "reshape")
        try verify(0, "h.mlpackage", "--against", windows, "--min-snr", "50")
    }

    /// Operations on six axes are written with merged ones, where neighbors are treated alike.
    @Test func operationsOnSixAxesHaveMergedOnes() throws {
        let file = try write(
            ONNXModel(
                opset: 17, inputs: [value("x", [1, 3, 8, 12])],
                outputs: [value("y", [1, 5, 3, 5])],
                nodes: [
                    ONNXNode("Reshape", ["x", "split"], ["parts"]),
                    ONNXNode("Relu", ["parts"], ["positive"]),
                    // Repeated along axes 1 and 4, then along axis 3.
                    ONNXNode("Mul", ["positive", "factors"], ["scaled"]),
                    ONNXNode("Sub", ["scaled", "column"], ["moved"]),
                    ONNXNode("Softmax", ["moved"], ["shares"], ["axis": .integer(3)]),
                    ONNXNode(
                        "ReduceSum", ["parts", "summed"], ["sums"], ["keepdims": .integer(1)]),
                    ONNXNode("Concat", ["shares", "sums"], ["both"], ["axis": .integer(-3)]),
                    ONNXNode("Pad", ["both", "pads"], ["wide"]),
                    ONNXNode("Slice", ["wide", "from", "to", "axes", "steps"], ["some"]),
                    ONNXNode("ReduceMean", ["some"], ["means"], ["axes": .integers([1, 2])]),
                    ONNXNode("Reshape", ["means", "join"], ["y"]),
                ],
                initializers: [
                    "split": ONNXTensor(integers: [1, 3, 2, 4, 3, 4]),
                    "factors": ONNXTensor(
                        floats: (0..<32).map { Float($0) / 16 - 1 }, dimensions: [2, 4, 1, 4]),
                    "column": ONNXTensor(floats: [0.5, -0.25, 1, 2], dimensions: [4, 1, 1]),
                    "summed": ONNXTensor(integers: [3]),
                    "pads": ONNXTensor(integers: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1]),
                    "from": ONNXTensor(integers: [1, 0]), "to": ONNXTensor(integers: [3, 5]),
                    "axes": ONNXTensor(integers: [2, 4]), "steps": ONNXTensor(integers: [1, 2]),
                    "join": ONNXTensor(integers: [1, 5, 3, 5]),
                ]), "six.onnx")
        try bench.expect(0, "export", file, "-o", "six.mlpackage")
        try verify(0, "six.mlpackage", "--against", file)
    }

    /// An input that nothing depends on is in the package, too.
    @Test func unusedInputsStay() throws {
        let file = try write(
            ONNXModel(
                opset: 17, inputs: [value("a", [1, 3]), value("b", [1, 2])],
                outputs: [value("y", [1, 3])], nodes: [ONNXNode("Relu", ["a"], ["y"])],
                initializers: [:]), "unused.onnx")
        try bench.expect(0, "export", file, "-o", "u.mlpackage", "--precision", "float16")
        #expect(try types("u.mlpackage", "inputs") == ["a fp32 [1, 3]", "b fp32 [1, 2]"])
        try verify(0, "u.mlpackage", "--against", file, "--find-precision", "-o", "f.mlpackage")
    }

    @Test func onlyColorizersHaveRetintsInterface() throws {
        try bench.expect(
            65, "export", try makeWords(), "-o", "w.mlpackage", "--interface", "retint",
            says: ["there are 2"])
    }

    /// Packages of others are converted like networks.
    @Test func foreignPackagesChangePrecision() throws {
        try bench.expect(0, ["export", photo, "-o", "h.mlpackage", "--precision", "float16"])
        #expect(try features("h.mlpackage", "inputs").first?["kind"] as? String == "image")
        #expect(try types("h.mlpackage", "outputs") == types(photo, "outputs"))
        try verify(0, "h.mlpackage", "--against", photo)
        try bench.expect(
            64, ["export", photo, "-o", "h.mlpackage"], says: ["is already a package"])
        try bench.expect(
            64, "export", goldenPath("networks/photo-float16.mlpackage"), "-o", "n.mlpackage",
            "--author", "Me", says: ["not all of its values are in one precision"])
        let half = "h.mlpackage"
        try bench.expect(0, "export", half, "-o", "same.mlpackage", "--author", "Me")
        let shown = try bench.expect(0, "inspect", "same.mlpackage").output
        #expect(shown.contains("Me") && shown.contains("coremltools.version"))
        #expect(try types("same.mlpackage", "inputs") == types(half, "inputs"))
        try verify(0, "same.mlpackage", "--against", half)
        for options in [["--size", "64"], ["--input", "image"], ["--avoid-wrong-numbers"]] {
            let result = try bench.run(
                ["export", photo, "-o", "n.mlpackage", "--precision", "float16"] + options)
            #expect(result.code == 64, "\(result.messages)")
        }
    }

    @Test(arguments: [
        (["--output-form", "split"], "output"), (["--normalization", "outside"], "normalization"),
        (["--element-type", "int8", "--target", "iOS26"], "element type"),
        (["--input", "image", "--image-scale", "2"], "image scaling"),
        (["--range", "0..1"], "--range needs --input image"),
        (["--range", "0..1", "--input", "image", "--image-scale", "2"], "--range excludes"),
        (["--interface", "retint", "--input", "image", "--range", "0..1"], "--interface original"),
    ])
    func whatBelongsToColorizersIsRefused(_ options: [String], _ words: String) throws {
        let result = try bench.run(["export", try makeOpen(), "-o", "m.mlpackage"] + options)
        #expect([64, 65].contains(result.code) && result.messages.contains(words), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: bench.path("m.mlpackage")))
    }

    /// Their time and size is measured as that of colorizers is.
    @Test func anyNetworkIsMeasured() throws {
        let words = try makeWords()
        let shown = try bench.json(
            bench.expect(0, "report", words, "--against", pair, "--runs", "3", "--json"))
        let model = try #require(shown["model"] as? [String: Any])
        #expect(model["kind"] as? String == "onnx" && model["height"] == nil)
        #expect(model["is_colorizer"] as? Bool == false && model["placement"] != nil)
        let other = try #require(shown["against"] as? [String: Any])
        #expect(other["height"] as? Int == 32 && other["kind"] as? String == "mlpackage")
        let result = try bench.json(
            bench.expect(0, "compare", words, pair, "--rounds", "1", "--json"))
        let models = try #require(result["models"] as? [[String: Any]])
        let sizes = models.compactMap { $0["size"] as? [String: Int] }
        // Two bytes for each of 5,000 × 4 numbers, and what else there is.
        #expect(try (40_000..<60_000).contains(#require(sizes[0]["float16_bytes"])))
        #expect(sizes[1]["package_bytes"] != nil)
        let open = try makeOpen()
        let exported = try bench.json(
            bench.expect(
                0, "compare", open, "--rounds", "1", "--size", "64", "--json"))
        let size = (exported["models"] as? [[String: Any]])?[0]["size"] as? [String: Int]
        // Two bytes for each of 81 weights, and what else there is; they are too few for int8.
        #expect(try (1_000..<10_000).contains(#require(size?["float16_bytes"])))
        #expect(size?["int8_bytes"] == nil && size?["multiply_adds"] == 64 * 64 * 81)
        try bench.expect(
            64, "compare", words, "--rounds", "1", "--size", "64", says: ["takes no images"])
    }
}
