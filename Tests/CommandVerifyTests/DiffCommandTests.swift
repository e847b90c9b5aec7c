import Foundation
import RetintCommandSupport
import RetintDiff
import RetintMLPackage
import RetintRuntime
import RetintTestSupport
import RetintVerification
import Testing

/// `retint diff` as a user runs it, on packages that coremltools wrote and changes of them.
@Suite(.sampled()) struct DiffCommandTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private static func network(_ name: String) -> String { goldenPath("networks/\(name)") }

    private let photo = network("photo.mlpackage")
    private let half = network("photo-float16.mlpackage")
    private let pair = network("pair.mlpackage")

    /// A changed copy of a package.
    private func edited(
        _ name: String, of source: String, _ edit: (inout MLPackage) throws -> Void
    ) throws -> String {
        var package = try MLPackage(contentsOf: source)
        try edit(&package)
        try package.write(to: bench.path(name))
        return name
    }

    @discardableResult
    private func diff(
        _ code: Int32, _ arguments: String..., says fragments: [String] = [],
        location: SourceLocation = #_sourceLocation
    ) throws -> ProcessResult {
        let result = try bench.run(["diff"] + arguments)
        #expect(result.code == code, "\(result.output)\(result.messages)", sourceLocation: location)
        let text = code == 64 || code == 65 ? result.messages : result.output
        for fragment in fragments {
            #expect(text.contains(fragment), "\(text)", sourceLocation: location)
        }
        return result
    }

    private func object(_ code: Int32, _ arguments: String...) throws -> [String: Any] {
        let result = try bench.run(["diff"] + arguments + ["--json"])
        #expect(result.code == code, "\(result.messages)")
        return try bench.json(result)
    }

    private func pairs(_ diff: [String: Any]) throws -> [[String: Any]] {
        let weights = try #require(diff["weights"] as? [String: Any])
        return try #require(weights["pairs"] as? [[String: Any]])
    }

    // MARK: Equal models

    @Test func copiesAreEqual() throws {
        let copy = try edited("copy.mlpackage", of: photo) { _ in }
        let result = try diff(
            0, photo, copy,
            says: ["interface: same", "operations: same", "weights: ", " same\n", "metadata: same"])
        #expect(
            !result.output.contains("changed")
                && result.output.hasSuffix(
                    "equal: the outputs are within the tolerance\n")
        )
        try diff(0, photo, copy, "--no-run", says: ["equal: interface, operations, weights; "])
    }

    @Test func otherMetadataDoNotDecide() throws {
        let copy = try edited("copy.mlpackage", of: photo) { package in
            package.metadata.author = "The photo lab"
        }
        try diff(0, photo, copy, says: ["metadata: 1 difference", "author", "The photo lab"])
        try diff(0, photo, copy, "--no-run")
    }

    @Test func aRenamedWeightIsTheSame() throws {
        let copy = try edited("copy.mlpackage", of: photo) { package in
            let name = try package.kernel().name
            package.rename(name, to: "kernel")
        }
        try diff(0, photo, copy, says: ["under another name", "→ kernel"])
        let pairs = try pairs(object(0, photo, copy, "--no-run"))
        #expect(pairs.allSatisfy { $0["relation"] as? String == "same" })
    }

    // MARK: Other precision

    @Test func halfPrecisionIsOfTheSame() throws {
        let result = try diff(
            0, photo, half,
            says: ["float32 → float16", "output 1 element type", "(mul)", "mul → softmax"])
        #expect(!result.output.contains("changed"))
        // coremltools leaves a multiplication by one out in float16, and returns float16.
        try diff(2, photo, half, "--no-run", says: ["DIFFERENT: interface, operations; "])
        // The bounds are those of the coarser model, whichever is the first.
        try diff(0, half, photo)
    }

    @Test func quantizedWeightsAreOfTheSame() throws {
        try bench.expect(
            0, "quantize", photo, "--weights", "int8", "--threshold", "8", "-o", "q.mlpackage")
        try diff(0, photo, "q.mlpackage", says: ["of another precision", "float32 → int8"])
        let rounded = try pairs(object(0, photo, "q.mlpackage", "--no-run")).filter {
            $0["relation"] as? String == "rounded"
        }
        #expect(!rounded.isEmpty)
        for pair in rounded {
            // Half a step of 127 steps up to the largest value of a channel.
            let error = try #require(pair["relative_error"] as? Double)
            #expect(error > 0 && error < 0.5 / 127 * 1.01)
        }
    }

    /// The values are those of other weights, which int8 does not explain.
    @Test func otherValuesInAnotherPrecisionAreChanged() throws {
        let copy = try edited("copy.mlpackage", of: photo) { package in
            try package.change { values in values = values.map { $0 * 1.05 } }
        }
        try bench.expect(
            0, "quantize", copy, "--weights", "int8", "--threshold", "8", "-o", "q.mlpackage")
        try diff(2, photo, "q.mlpackage", "--no-run", says: ["1 changed", "DIFFERENT: weights; "])
        let schemes = [
            ["--weights", "palette2"], ["--weights", "palette4"], ["--sparsity", "0.5"],
        ]
        for scheme in schemes {
            try bench.expect(
                0, ["quantize", copy, "--threshold", "8", "-o", "q.mlpackage"] + scheme)
            try diff(0, copy, "q.mlpackage", "--no-run", says: ["of another precision"])
        }
    }

    // MARK: Changes

    @Test func aChangedWeightIsNamed() throws {
        let kernel = try MLPackage(contentsOf: photo).kernel().name
        let copy = try edited("copy.mlpackage", of: photo) { package in
            try package.change { $0[5] += 0.25 }
        }
        try diff(2, photo, copy, says: [kernel, "1 changed", "DIFFERENT: the outputs are outside"])
        let changed = try pairs(object(2, photo, copy)).filter {
            $0["relation"] as? String == "changed"
        }
        let error = try #require(changed.first?["error"] as? [String: Any])
        #expect(changed.count == 1)
        #expect(abs(try #require(error["max_abs"] as? Double) - 0.25) < 1e-6)
        try diff(2, photo, copy, "--no-run", says: ["DIFFERENT: weights; "])
    }

    @Test func otherOrdersAreNamed() throws {
        let transposed = try edited("transposed.mlpackage", of: photo) { package in
            try package.change { values in
                values = values.indices.map { index in
                    let (kernel, y, x) = (index / 9, index / 3 % 3, index % 3)
                    return values[kernel * 9 + x * 3 + y]
                }
            }
        }
        try diff(2, photo, transposed, says: ["1 in another order", "axes [0, 1, 3, 2]"])
        let reversed = try edited("reversed.mlpackage", of: photo) { package in
            try package.change { values in
                values = values.indices.map { index in
                    let (filter, channel, rest) = (index / 27, index / 9 % 3, index % 9)
                    return values[filter * 27 + (2 - channel) * 9 + rest]
                }
            }
        }
        try diff(2, photo, reversed, says: ["1 in another order", "reversed along axis 1"])
        try diff(
            0, photo, reversed, "--atol", "1e9",
            says: ["on these inputs, although weights differ"])
        let text = try bench.expect(
            0, "verify", reversed, "--against", photo, "--atol", "1e9"
        ).output
        #expect(text.contains("intermediate values are outside the tolerance: on other inputs"))
        #expect(text.contains("  outside\n") && !text.contains("FAILED"), "\(text)")
    }

    /// The scale of an image is a multiplication in the program.
    @Test func anotherScaleIsTheFirstOperationThatDiffers() throws {
        let copy = try edited("copy.mlpackage", of: photo) { package in
            for index in package.program.operations.indices {
                let operation = package.program.operations[index]
                guard let value = operation.constantValue, value.type.rank == 0,
                    let floats = try? value.floats(), abs(floats[0] - 1 / 127.5) < 1e-6
                else { continue }
                package.program.operations[index].attributes["val"] = .float(1 / 255)
            }
        }
        try diff(
            2, photo, copy,
            says: ["operations: different", "the first that differs", "(mul)", "→ 0.00392"])
        try diff(2, photo, copy, "--no-run", says: ["DIFFERENT: operations; "])
    }

    @Test func otherInterfacesCannotBeRun() throws {
        try diff(
            2, photo, pair,
            says: ["input 2 name", "outputs: ", "DIFFERENT: the outputs could not be compared"])
    }

    /// The same network for two sizes differs in its interface alone.
    @Test func anotherSizeIsAnotherInterface() throws {
        let model = try bench.makeCheckpoint()
        for size in ["64", "96"] {
            try bench.expect(0, "export", model, "-o", "\(size).mlpackage", "--size", size)
        }
        try diff(
            2, "64.mlpackage", "96.mlpackage", "--no-run",
            says: ["[1, 1, 64, 64]  [1, 1, 96, 96]", "operations: same", "DIFFERENT: interface; "])
        try diff(2, "64.mlpackage", "96.mlpackage", says: ["could not be compared"])
    }

    // MARK: Other formats

    /// ONNX's instance normalization has a gain and a bias, of ones and zeros here, which are no
    /// difference.
    @Test func anONNXFileOfThePackageIsEqual() throws {
        try bench.expect(0, ["export", pair, "-o", "pair.onnx"])
        let result = try diff(
            0, pair, "pair.onnx",
            says: ["Core ML", "ONNX", "interface: same", "weights: 6 same\n"])
        #expect(!result.output.contains("changed"))
    }

    /// Its weights have no names, and biases have four axes.
    @Test func aCoreAIModelOfThePackageIsEqual() throws {
        let coarse = Self.network("coarse.mlpackage")
        try bench.expect(0, ["export", coarse, "-o", "coarse.aimodel"])
        let result = try diff(
            0, coarse, "coarse.aimodel", says: ["Core AI", "interface: same", "weights: 2 same\n"])
        #expect(result.output.contains("values under another name"))
    }

    /// Batch normalizations are folded on both sides.
    @Test func aPackageIsEqualToItsCheckpoint() throws {
        try bench.makeHalfPackage()
        let result = try diff(
            0, "model.h5", "half.mlpackage", says: ["operations: same", "checkpoint"])
        #expect(!result.output.contains("changed") && !result.output.contains("only in"))
        // It differs in its interface alone, so that another copy of it is equal.
        try diff(2, "model.h5", "half.mlpackage", "--no-run", says: ["DIFFERENT: interface; "])
        try diff(0, "model.h5", "model.h5", "--no-run")
    }

    // MARK: Bad input

    @Test func badInputIsRefused() throws {
        try diff(65, photo, "absent.mlpackage", says: ["absent.mlpackage", "No such"])
        _ = try bench.write(Data("not a model".utf8), to: "damaged.onnx")
        try diff(65, photo, "damaged.onnx", says: ["damaged.onnx"])
        let copy = try edited("copy.mlpackage", of: photo) { _ in }
        let weights = bench.path("\(copy)/Data/com.apple.CoreML/weights/weight.bin")
        try Data(contentsOf: URL(fileURLWithPath: weights)).prefix(100)
            .write(to: URL(fileURLWithPath: weights))
        try diff(65, photo, copy, "--html", "page.html", says: [copy])
        #expect(!bench.files.contains("page.html"))
    }

    @Test func wrongUsageIsRefused() throws {
        try diff(64, photo, says: ["name two models"])
        try diff(64, photo, photo, photo, says: ["--bisect"])
        try diff(64, photo, photo, "--no-run", "--seed", "1", says: ["--no-run"])
        try diff(64, photo, photo, "--bisect", "--html", "a.html", says: ["--html"])
        try diff(64, photo, photo, "--html", photo, says: [photo])
    }

    // MARK: Outputs

    @Test func aPageIsWritten() throws {
        try diff(0, photo, half, "--html", "page.html")
        let page = try String(contentsOfFile: bench.path("page.html"), encoding: .utf8)
        // Titles have names of files, not paths.
        let title = "<title>photo.mlpackage and photo-float16.mlpackage</title>"
        for text in [title, "equal</span>", "float32 → float16", "Along the network", "</html>"] {
            #expect(page.contains(text))
        }
    }

    @Test func comparisonsAreCodable() throws {
        var diff = try ModelDiff(Model(contentsOf: photo), Model(contentsOf: half))
        diff.numbers = try Model(contentsOf: half).verify(against: Model(contentsOf: photo))
        let encoder = JSONEncoder()
        let decoder = JSONDecoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "∞", negativeInfinity: "-∞", nan: "NaN")
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "∞", negativeInfinity: "-∞", nan: "NaN")
        let data = try encoder.encode(diff)
        let decoded = try decoder.decode(ModelDiff.self, from: data)
        #expect(decoded.isEqual && decoded.weights.pairs.count == diff.weights.pairs.count)
        #expect(try encoder.encode(decoded) == data)
    }

    // MARK: Bisection

    @Test func theFirstDifferentModelIsFound() throws {
        let names = try (1...5).map { number in
            try edited("\(number).mlpackage", of: photo) { package in
                if number >= 4 { try package.change { $0[0] += Float(number) } }
            }
        }
        let result = try bench.run(["diff", "--bisect", photo] + names)
        #expect(result.code == 2, "\(result.messages)")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 6, "\(lines)")
        #expect(
            lines.map { String($0.prefix(20)) }.prefix(3) == [
                "5.mlpackage: differs", "2.mlpackage: equal, ", "3.mlpackage: equal, ",
            ])
        #expect(result.output.contains("4.mlpackage is the first that differs"))
        let same = try bench.run(
            ["diff", "--bisect", photo] + names.prefix(3) + ["--no-run", "--json"])
        let object = try bench.json(same)
        #expect(same.code == 0 && object["first_different"] == nil)
        #expect((object["steps"] as? [[String: Any]])?.count == 1)
    }

    @Test func bisectionFindsEveryPlace() {
        for count in 2...9 {
            for place in 1...count {
                var tried: [Int] = []
                let found = ModelBisection.firstDifferent(of: count) { index in
                    tried.append(index)
                    return index >= place
                }
                #expect(found == (place < count ? place : nil))
                #expect(Set(tried).count == tried.count && !tried.contains(0))
            }
        }
    }
}

extension MLPackage {
    /// The constant that the first convolution of `photo` has as its weight.
    fileprivate func kernel() throws -> MILOperation {
        try #require(
            program.operations.first { $0.constantValue?.type.shape == [8, 3, 3, 3] })
    }

    /// Changes the values of that weight.
    fileprivate mutating func change(_ edit: (inout [Float]) -> Void) throws {
        let kernel = try kernel()
        let index = try #require(program.operations.firstIndex { $0.name == kernel.name })
        var values = try #require(kernel.constantValue).floats()
        edit(&values)
        program.operations[index].attributes["val"] = .floats(values, shape: [8, 3, 3, 3])
    }

    /// Gives a constant another name.
    fileprivate mutating func rename(_ name: String, to other: String) {
        for index in program.operations.indices {
            var operation = program.operations[index]
            operation.inputs = operation.inputs.mapValues { arguments in
                arguments.map { $0.name == name ? .name(other) : $0 }
            }
            if operation.name == name {
                operation.name = other
                operation.outputs[0].name = other
            }
            program.operations[index] = operation
        }
    }
}
