import Foundation
import RetintCommandSupport
import RetintEngine
import RetintTestSupport
import Testing

/// `--compute`, the format in which networks multiply.
@Suite(.sampled()) struct ComputeTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    @Test(arguments: [Arithmetic.float16, .bfloat16])
    func commandsSayHowTheyMultiply(_ arithmetic: Arithmetic) throws {
        let model = try bench.makeLivelyCheckpoint()
        try bench.makeDirectory("data")
        let photo = try bench.makePhoto("data/photo.png")
        let note = "convolutions multiply in \(arithmetic.summary())"
        try bench.expect(0, "colorize", model, photo, "-o", "float32", "--size", "64")
        try bench.expect(
            0, "colorize", model, photo, "-o", "half", "--size", "64", "--compute",
            arithmetic.rawValue, says: [note])
        let colored = try ["float32", "half"].map {
            try Data(contentsOf: URL(filePath: bench.path("\($0)/photo.png")))
        }
        // Weights alone that are rounded to float16 may leave all levels as they are.
        if arithmetic.isFast || arithmetic == .bfloat16 { #expect(colored[0] != colored[1]) }
        try bench.expect(
            0, "evaluate", model, "--data", "data", "--size", "64", "--compute",
            arithmetic.rawValue, says: [note])
        try bench.expect(
            0, "evaluate", model, "--data", "data", "--size", "64", "--video", "--compute",
            arithmetic.rawValue, says: [note])
    }

    @Test(arguments: [Arithmetic.float16, .bfloat16])
    func benchmarksStateIt(_ arithmetic: Arithmetic) throws {
        let arguments = ["benchmark", "pico-unet", "--size", "32", "--runs", "1", "--json"]
        let plain = try bench.expect(0, arguments)
        #expect(try bench.json(plain)["arithmetic"] as? String == "float32")
        let half = try bench.expect(0, arguments + ["--compute", arithmetic.rawValue])
        #expect(try bench.json(half)["arithmetic"] as? String == arithmetic.summary())
        let training = try bench.expect(
            0,
            arguments + ["--batch", "2", "--mode", "training", "--compute", arithmetic.rawValue])
        #expect(
            try bench.json(training)["arithmetic"] as? String == arithmetic.summary(trains: true))
    }

    @Test func theFastestIsChosen() throws {
        try bench.expect(
            0, "benchmark", "pico-unet", "--size", "32", "--runs", "1", "--compute", "auto",
            says: ["convolutions multiply in \(Arithmetic.fastest.rawValue)"])
        try bench.expect(
            64, "benchmark", "pico-unet", "--compute", "int8",
            says: ["float32", "float16", "bfloat16", "auto"])
    }
}
