import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// A network of DDColor's form, from its ONNX file to a student in int8: gray in three channels
/// goes in, a and b come out.
@Suite(.sampled()) struct DDColorTests {
    private let bench: CommandBench
    private let network = goldenPath("ddcolor/ddcolor.onnx")

    private static let recipe = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Scripts/recipes/mobile-unet.yaml").path

    init() throws {
        bench = try CommandBench()
        try bench.makeDirectory("photos")
        for name in ["a", "b", "c"] {
            _ = try bench.makePhoto("photos/\(name).png", width: 70 + name.utf8.count, height: 66)
        }
    }

    private func importNetwork() throws {
        try bench.expect(
            0, "import", network, "--input", "gray-rgb", "--range", "0..1", "--colors", "ab",
            "-o", "teacher.h5")
    }

    @Test func computesWhatPyTorchDoes() throws {
        try importNetwork()
        try bench.expect(0, "verify", "teacher.h5", "--reference", goldenPath("ddcolor/ddcolor.h5"))
        let lines = try bench.expect(0, "inspect", "teacher.h5").output
        #expect(lines.contains("takes gray-rgb 0..1, returns ab -110..110"))
    }

    @Test func theWholeRoad() throws {
        try importNetwork()
        try bench.expect(0, "colorize", "teacher.h5", "photos/a.png", "-o", "colored")
        try bench.expect(
            0, "export", "teacher.h5", "-o", "teacher.mlpackage", "--size", "64", "--precision",
            "float16")
        try bench.expect(0, "verify", "teacher.mlpackage", "--against", "teacher.h5")
        try bench.expect(
            0, "export", "teacher.h5", "-o", "teacher.onnx", "--size", "64")
        try bench.expect(0, "export", "teacher.h5", "-o", "teacher.aimodel", "--size", "64")
        try bench.expect(
            0, "train", "--config", Self.recipe, "--output", "run", "--set",
            "architecture=pico-unet", "width=0.0625", "data.train=photos", "data.validation=null",
            "data.validation_fraction=0", "data.crop=64", "batch=1", "steps=2",
            "distillation.teacher=teacher.h5", "distillation.weight=0.5")
        try bench.expect(
            0, "export", "run/last.h5", "-o", "student.mlpackage", "--size", "64")
        try bench.expect(
            0, "quantize", "student.mlpackage", "--weights", "int8", "--threshold", "64", "-o",
            "small.mlpackage")
        let verdict = try bench.run(["verify", "small.mlpackage", "--against", "run/last.h5"])
        #expect(verdict.code == 0, "\(verdict.output)")
    }

    /// A network in −1…1 would leave photos gray.
    @Test func anotherRangeIsSuspected() throws {
        let result = try bench.expect(
            0, "import", network, "--color-range", "-1..1", "-o", "t.h5")
        #expect(result.messages.contains("--color-range -110..110"))
    }

    @Test func formsThatDoNotFitAreRefused() throws {
        try bench.expect(
            64, "import", network, "--color-range", "imagenet", "-o", "t.h5", says: ["imagenet"])
        try bench.expect(
            65, "import", network, "--input", "lightness", "--range", "imagenet", "-o", "t.h5",
            says: ["not possible"])
        try bench.expect(
            65, "import", network, "--input", "lightness", "-o", "t.h5", says: ["N × 1 × H × W"])
        try bench.expect(
            65, "import", network, "--input", "gray-rgb", "--colors", "rgb", "-o", "t.h5",
            says: ["none is [1, 3, 64, 64]"])
        try bench.expect(
            64, "import", network, "--normalization", "inside", "--colors", "ab", "-o", "t.h5",
            says: ["--normalization"])
    }
}
