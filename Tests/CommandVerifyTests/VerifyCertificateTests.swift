import Foundation
import RetintCommandSupport
import RetintImages
import RetintTestSupport
import Testing

/// `retint verify --certify`.
@Suite(.sampled()) struct VerifyCertificateTests {
    private let bench: CommandBench

    init() throws {
        bench = try CommandBench()
        let model = try bench.makeLivelyCheckpoint("model.h5")
        try bench.expect(
            0, "export", model, "-o", "half.mlpackage", "--precision", "float16", "--size", "32")
    }

    private let run = ["verify", "half.mlpackage", "--certify"]

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: bench.path(name), encoding: .utf8)
    }

    @Test func boundsAndTheWorstImageAreReported() throws {
        let result = try bench.expect(
            0, run + ["--worst-image", "worst.png", "--save", "r.json", "--html", "r.html"])
        for text in ["no overflow and no NaN in float16", "error at most", "input in 0…100"] {
            #expect(result.output.contains(text), "\(result.output)")
        }
        let picture = try Image(contentsOf: bench.path("worst.png"))
        #expect(picture.width == 32 && picture.height == 32)
        #expect(Set(picture.pixels).count > 1)
        #expect(try bench.run(["verify", "r.json"]).output == result.output)
        #expect(try text("r.html").contains("for all inputs"))
        try bench.expect(0, "replay", "r.json")
    }

    @Test func jsonHasBoundsAndGaps() throws {
        let result = try bench.expect(0, run + ["--json", "--seed", "3"])
        let json = try #require(try bench.json(result)["certificate"] as? [String: Any])
        let outputs = try #require(json["outputs"] as? [[String: Any]])
        let (found, bound) = (outputs[0]["found"] as? Double, outputs[0]["error"] as? Double)
        #expect(try #require(found) > 0 && #require(found) <= #require(bound))
        #expect(json["shown"] is Bool && json["gaps"] is [Any] && json["tried"] as? Int ?? 0 > 10)
        let input = try #require((json["inputs"] as? [[String: Any]])?.first)
        #expect(input["upper"] as? [Double] == [100])
    }

    @Test(arguments: [
        (["--worst-image", "a.png"], "--worst-image needs --certify"),
        (["--certify", "--worst-image", "a.jpg"], "must end in .png"),
        (["--certify", "--judge", "apple"], "--certify needs --judge retint"),
        (["--certify", "--noise", "normal:0,1"], "have no bounds"),
    ])
    func whatMakesNoSenseIsRefused(_ options: [String], _ message: String) throws {
        try bench.expect(
            64, ["verify", "half.mlpackage", "--against", "model.h5"] + options, says: [message])
        #expect(!bench.files.contains("a.png"))
    }

    @Test func onlyFloat16IsCertified() throws {
        try bench.expect(
            65, "verify", "model.h5", "--certify", says: ["computes nothing in float16"])
    }

    @Test(arguments: [
        (#""tried" : \d+"#, #""tried" : -1"#, "certificate.tried: must not be negative"),
        (#""upper" : \[\s*100"#, #""upper" : [-1"#, "certificate.inputs[0]: must have bounds"),
    ])
    func damagedResultsAreRefused(_ pattern: String, _ new: String, _ message: String) throws {
        try bench.expect(0, run + ["--save", "r.json"])
        let saved = try text("r.json")
        let range = try #require(saved.range(of: pattern, options: .regularExpression))
        let bad = saved.replacingCharacters(in: range, with: new)
        _ = try bench.write(Data(bad.utf8), to: "bad.json")
        try bench.expect(65, "verify", "bad.json", says: [message])
    }
}
