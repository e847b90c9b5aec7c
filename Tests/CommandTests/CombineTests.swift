import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `combine`, and packages with several functions wherever a model is read.
@Suite(.sampled()) struct CombineTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    /// Packages of one network at two sizes, as functions of `both.mlpackage`; the network's name.
    private func makeBoth() throws -> String {
        let model = try bench.makeCheckpoint()
        for size in ["64", "96"] {
            try bench.expect(
                0, "export", model, "-o", "\(size).mlpackage", "--size", size, "--target", "iOS18")
        }
        try bench.expect(
            0, "combine", "small=64.mlpackage", "large=96.mlpackage", "-o", "both.mlpackage")
        return model
    }

    private func size(_ path: String) throws -> Int {
        let file = bench.path("\(path)/Data/com.apple.CoreML/weights/weight.bin")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        return try #require(attributes[.size] as? Int)
    }

    @Test func functionsShareWeights() throws {
        let model = try makeBoth()
        #expect(try size("both.mlpackage") == size("64.mlpackage"))
        for (name, side) in [("both.mlpackage", 64), ("both.mlpackage#large", 96)] {
            try bench.expect(0, "verify", name, "--against", model)
            let json = try bench.json(bench.expect(0, "inspect", name, "--json"))
            #expect(json["functions"] as? [String] == ["small", "large"])
            let input = try #require((json["inputs"] as? [[String: Any]])?.first)
            #expect(input["shape"] as? [Int] == [1, 1, side, side])
        }
        try bench.expect(
            0, "colorize", "both.mlpackage#large", bench.makePhoto("a.png"), "-o", "out")
        let lines = try bench.expect(0, "inspect", "both.mlpackage").output
        #expect(
            lines.contains(
                "functions: small, large, the default first; commands take one as PACKAGE#large"))
    }

    /// Metadata that differs stays with its function.
    @Test func functionsKeepTheirMetadata() throws {
        let model = try bench.makeCheckpoint()
        let options = ["--target", "iOS18", "--size", "64"]
        try bench.expect(0, ["export", model, "-o", "in.mlpackage"] + options)
        try bench.expect(
            0, ["export", model, "-o", "out.mlpackage", "--normalization", "outside"] + options)
        try bench.expect(0, "combine", "a=in.mlpackage", "b=out.mlpackage", "-o", "ab.mlpackage")
        try bench.expect(0, "verify", "ab.mlpackage#a", "--against", model)
        try bench.expect(0, "verify", "ab.mlpackage#b", "--against", model)
        for (name, expected) in [("a", "inside"), ("b", "outside")] {
            let json = try bench.json(bench.expect(0, "inspect", "ab.mlpackage#\(name)", "--json"))
            let metadata = try #require(json["metadata"] as? [String: String])
            #expect(metadata["retint.normalization"] == expected)
            #expect(!metadata.keys.contains { $0.hasPrefix("function.") })
        }
    }

    @Test func quantizesOneFunction() throws {
        let model = try makeBoth()
        try bench.expect(
            64, "quantize", "both.mlpackage", "-o", "int8.mlpackage", "--weights", "int8",
            says: ["has the functions small, large", "both.mlpackage#small"])
        try bench.expect(
            0, "quantize", "both.mlpackage#large", "-o", "int8.mlpackage", "--weights", "int8")
        try bench.expect(0, "verify", "int8.mlpackage", "--against", model)
        let json = try bench.json(bench.expect(0, "inspect", "int8.mlpackage", "--json"))
        #expect(json["functions"] == nil)
        try bench.expect(
            64, "quantize", "both.mlpackage#large", "-o", "both.mlpackage", "--weights", "int8",
            says: ["is the input itself"])
    }

    private static let refusals: [([String], Int32, String)] = [
        (["small=64.mlpackage"], 65, "2 to 64 functions are needed, not 1"),
        (["a=64.mlpackage", "a=96.mlpackage"], 65, "used twice"),
        (["a b=64.mlpackage", "c=96.mlpackage"], 65, "names have letters"),
        (["a=64.mlpackage", "b=old.mlpackage"], 65, "--target iOS18"),
        (["a=64.mlpackage", "b=new.mlpackage"], 65, "the first one for iOS18"),
        (["a=64.mlpackage", "96.mlpackage"], 64, "96.mlpackage"),
        (["a=64.mlpackage", "b=both.mlpackage#medium"], 65, "no function \"medium\""),
        (["a=64.mlpackage", "b=64.mlpackage#large"], 65, "It has main"),
    ]

    @Test func refuses() throws {
        let model = try makeBoth()
        for (name, target) in [("old", "iOS17"), ("new", "iOS26")] {
            try bench.expect(
                0, "export", model, "-o", "\(name).mlpackage", "--target", target, "--size", "64")
        }
        for (functions, code, rule) in Self.refusals {
            try bench.expect(code, ["combine"] + functions + ["-o", "x.mlpackage"], says: [rule])
            #expect(!FileManager.default.fileExists(atPath: bench.path("x.mlpackage")))
        }
    }
}
