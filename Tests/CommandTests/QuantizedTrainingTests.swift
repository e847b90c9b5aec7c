import Foundation
import Retint
import RetintCommandSupport
import RetintTestSupport
import Testing

/// A training in W8A8, exported as it was trained.
@Suite(.serialized, .sampled()) struct QuantizedTrainingTests {
    private let bench: CommandBench

    init() throws {
        bench = try CommandBench()
        try bench.makeDirectory("photos")
        for number in 0..<3 { _ = try bench.makePhoto("photos/\(number).png") }
        try bench.expect(
            0, "train", "--set", "data.train=photos", "data.crop=32", "width=0.25", "batch=2",
            "steps=20", "quantization=w8a8", "output=run", "data.validation_fraction=0")
    }

    @Test func isExportedAsItWasTrained() throws {
        let model = "run/last.h5"
        try bench.expect(
            65, "export", model, "-o", "early.mlpackage", "--size", "64", "--target", "iOS15",
            says: ["rounds an input to 8 bits", "Choose the target iOS17"])
        for (name, options) in [
            ("m.mlpackage", []),
            ("half.mlpackage", ["--target", "iOS17", "--precision", "float16"]),
            ("m.onnx", []), ("m.aimodel", []),
        ] {
            try bench.expect(0, ["export", model, "-o", name, "--size", "64"] + options)
            let verified = try bench.run(["verify", name, "--against", model, "--json"])
            #expect(verified.code == 0, "\(name): \(verified.output) \(verified.messages)")
        }
        let package = try MLPackage(contentsOf: bench.path("m.mlpackage"))
        #expect(package.target == .iOS17)
        let program = package.program
        let types = program.operations.map(\.type)
        #expect(types.count { $0 == "quantize" } == types.count { $0 == "dequantize" })
        #expect(types.count { $0 == "quantize" } > 10)

        // Both halves of W8A8; the inputs stay as they are.
        try bench.expect(
            0, "quantize", "m.mlpackage", "-o", "small.mlpackage", "--weights", "int8")
        let small = try MLPackage(contentsOf: bench.path("small.mlpackage")).program.operations
        #expect(small.count { $0.type == "quantize" } == types.count { $0 == "quantize" })
    }

    /// The checkpoint computes as the package does.
    @Test func theCheckpointRounds() throws {
        var checkpoint = try Checkpoint(contentsOf: bench.path("run/last.h5"))
        let ranges = checkpoint.state.map(\.0).filter { $0.hasPrefix("input_range.") }
        #expect(ranges.count > 10)
        for name in ranges { checkpoint.state[name] = nil }
        try checkpoint.write(to: bench.path("float.h5"))
        let differs = try bench.run(
            ["verify", "run/last.h5", "--against", "float.h5", "--atol", "1e-4", "--rtol", "0"])
        #expect(differs.code == 2, "\(differs.messages)")
        // Average, combine and diff take them.
        try bench.expect(0, "average", "run/last.h5", "run/last.h5", "-o", "mean.h5")
        try bench.expect(
            65, "average", "run/last.h5", "float.h5", "-o", "mixed.h5",
            says: ["float.h5: was trained with the inputs"])
        try bench.expect(0, "verify", "mean.h5", "--against", "run/last.h5")
    }
}
