import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint replay`, and what `retint verify --save` records for it.
@Suite(.sampled()) struct ReplayTests {
    private let bench: CommandBench

    /// A folder with a checkpoint, its package, photos and a file of results.
    init() throws {
        bench = try CommandBench()
        try bench.makeHalfPackage()
        try bench.makeDirectory("photos/deep")
        for name in ["photos/a.png", "photos/deep/b.png", "single.png"] {
            _ = try bench.makePhoto(name)
        }
        try bench.makeDirectory("out")
        try bench.expect(
            0,
            [
                "verify", "half.mlpackage", "--against", "model.h5", "--photos", "photos",
                "--photo", "single.png", "--size", "64", "--save", "out/r.json",
            ])
    }

    private func saved(_ name: String = "out/r.json") throws -> [String: Any] {
        let data = try Data(contentsOf: URL(filePath: bench.path(name)))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func names(_ list: Any?) throws -> [String] {
        try #require(list as? [[String: Any]]).compactMap { $0["name"] as? String }
    }

    private func flip(_ name: String, byte: Int = 40) throws {
        let url = URL(filePath: bench.path(name))
        var data = try Data(contentsOf: url)
        data[min(byte, data.count - 1)] ^= 1
        try data.write(to: url)
    }

    @Test func theFileIsAStatementAboutTheModel() throws {
        let statement = try saved()
        #expect(statement["_type"] as? String == "https://in-toto.io/Statement/v1")
        #expect(Set(statement.keys) == ["_type", "subject", "predicateType", "predicate"])
        let model = try names(statement["subject"])
        #expect(model.contains("../half.mlpackage/Manifest.json"))
        #expect(model.allSatisfy { $0.hasPrefix("../half.mlpackage/") } && model.count > 2)
        let predicate = try #require(statement["predicate"] as? [String: Any])
        #expect(
            try Set(names(predicate["inputs"])) == [
                "../model.h5", "../photos/a.png", "../photos/deep/b.png", "../single.png",
            ])
        #expect(predicate["format"] as? String == "retint verification")
        let environment = try #require(predicate["environment"] as? [String: Any])
        #expect(environment["threads"] as? Int ?? 0 > 0)
        #expect((environment["kernels"] as? String)?.contains("OpenBLAS core") == true)
    }

    /// `sha256sum` computes the same.
    @Test func digestsAreThoseOfTheFiles() throws {
        let list = try #require(saved()["subject"] as? [[String: Any]])
        for file in list {
            let name = try #require(file["name"] as? String)
            let digest = try #require((file["digest"] as? [String: String])?["sha256"])
            let sum = try runProcess(
                URL(filePath: "/usr/bin/sha256sum"), [bench.path("out/\(name)")])
            #expect(sum.output.hasPrefix(digest) && digest.count == 64)
        }
    }

    @Test func sameEnvironmentGivesSameBits() throws {
        let result = try bench.expect(0, "replay", "out/r.json")
        #expect(result.output.contains("figures: the same bits"), "\(result.output)")
        #expect(result.output.contains("environment: the same: retint "))
        #expect(result.output.hasSuffix("out/r.json: the same\n"))
    }

    @Test func anotherEnvironmentGivesTheSameVerdict() throws {
        let threads = try #require(
            (saved()["predicate"] as? [String: Any])?["environment"] as? [String: Any])["threads"]
        let other = threads as? Int == 3 ? "2" : "3"
        let result = try bench.expect(0, "replay", "out/r.json", "--threads", other)
        #expect(result.output.contains("environment: different") == true, "\(result.output)")
        #expect(result.output.contains("verdict: the same: passed"))
        let core = try bench.run(
            ["replay", "out/r.json", "--json"], environment: ["OPENBLAS_CORETYPE": "Nehalem"])
        #expect(core.code == 0, "\(core.messages)")
        let json = try bench.json(core)
        #expect(json["same"] as? Bool == true && json["same_environment"] as? Bool == false)
        #expect(json["replayed_passed"] as? Bool == true)
    }

    @Test(arguments: [
        "half.mlpackage/Manifest.json", "half.mlpackage/Data/com.apple.CoreML/weights/weight.bin",
        "half.mlpackage/Data/com.apple.CoreML/model.mlmodel", "model.h5", "photos/a.png",
        "photos/deep/b.png", "single.png",
    ])
    func aFlippedBitIsNamed(_ name: String) throws {
        try flip(name, byte: 200)
        let result = try bench.run(["replay", "out/r.json"])
        #expect(result.code == 2, "\(result.messages)")
        #expect(result.output.contains("../\(name): has other bytes"), "\(result.output)")
        #expect(result.output.contains("nothing was run"))
    }

    @Test func otherPhotosAreNamed() throws {
        _ = try bench.makePhoto("photos/c.png")
        try FileManager.default.removeItem(atPath: bench.path("photos/a.png"))
        _ = try bench.makePhoto("photos/a.jpeg")
        try bench.expect(
            65, "replay", "out/r.json",
            says: ["../photos/a.png: is no longer in out", "--folder"])
        _ = try bench.makePhoto("photos/a.png")
        let result = try bench.run(["replay", "out/r.json", "--json"])
        #expect(result.code == 2)
        let files = try #require(try bench.json(result)["files"] as? [[String: Any]])
        #expect(
            Set(files.compactMap { $0["name"] as? String })
                == ["../photos/a.jpeg", "../photos/c.png"])
        #expect(files.allSatisfy { $0["kind"] as? String == "added" })
    }

    @Test func movedResultsNeedTheirFolder() throws {
        try bench.makeDirectory("elsewhere/deep")
        try FileManager.default.moveItem(
            atPath: bench.path("out/r.json"), toPath: bench.path("elsewhere/deep/r.json"))
        try bench.expect(65, "replay", "elsewhere/deep/r.json", says: ["--folder"])
        try bench.expect(0, "replay", "elsewhere/deep/r.json", "--folder", "out")
    }

    /// Inputs as arrays, and a reference file.
    @Test func inputsAndReferencesAreRead() throws {
        let single = goldenPath("networks/photo.mlpackage")
        let reference = goldenPath("networks/photo.h5")
        for (source, copy) in [(single, "photo.mlpackage"), (reference, "photo.h5")] {
            try FileManager.default.copyItem(atPath: source, toPath: bench.path(copy))
        }
        try bench.makeDirectory("arrays")
        try FileManager.default.copyItem(
            atPath: bench.path("photo.h5"), toPath: bench.path("arrays/x.h5"))
        try bench.expect(
            0, "verify", "photo.mlpackage", "--reference", "photo.h5", "--save", "ref.json")
        try bench.expect(
            0, "verify", "photo.mlpackage", "--against", "photo.mlpackage", "--inputs", "arrays",
            "--save", "arrays.json")
        try bench.expect(0, "replay", "ref.json")
        try bench.expect(0, "replay", "arrays.json")
        try flip("arrays/x.h5", byte: 300)
        try flip("photo.h5", byte: 300)
        let changed = [("ref.json", "photo.h5"), ("arrays.json", "arrays/x.h5")]
        for (results, name) in changed {
            let result = try bench.run(["replay", results])
            #expect(result.code == 2 && result.output.contains("\(name): has other bytes"))
        }
    }

    /// A verdict of failure is one like any other, and a diagnosis is replayed without its files.
    @Test func failuresAndDiagnosesAreReplayed() throws {
        #expect(
            try bench.run([
                "verify", "half.mlpackage", "--against", "model.h5", "--atol", "1e-9", "--reduce",
                "part.mlpackage", "--stages", "lowered", "--arithmetics", "2", "--seed=3",
                "--noise=uniform:0..50", "--save", "failed.json",
            ]).code == 2)
        let before = bench.files
        let result = try bench.expect(0, "replay", "failed.json")
        #expect(result.output.contains("verdict: the same: FAILED"), "\(result.output)")
        #expect(bench.files == before)
    }

    @Test(arguments: [
        (#""max_abs" : (?=\d)"#, #""max_abs" : 1"#, "predicate.judges: is not what was saved"),
        (#""min_psnr_db" : 60"#, #""min_psnr_db" : 61"#, "is not what was saved"),
        (
            #"(?s)"subject" : .*?"sha256" : "[0-9a-f]{60}"#,
            #""subject" : [{"digest" : {"sha256" : ""#, "must be 64 hexadecimal digits"
        ),
        (#"Statement/v1"#, "Statement/v0", "_type: must be \"https://in-toto.io/Statement/v1\""),
        (#""predicateType" : "[^"]*""#, #""predicateType" : "x""#, "predicateType: must be"),
        (#""arguments" : \["#, #""arguments" : ["--x","#, "predicate.arguments: are not those"),
        (#""arguments" : \["#, #""arguments" : [3,"#, "predicate.arguments[0]: must be text"),
        (#"(?s)"subject".*"#, "", "cannot be read as JSON"),
    ])
    func damagedResultsAreRefused(_ pattern: String, _ new: String, _ message: String) throws {
        let text = try String(contentsOfFile: bench.path("out/r.json"), encoding: .utf8)
        let range = try #require(text.range(of: pattern, options: .regularExpression), "\(pattern)")
        let bad = text.replacingCharacters(in: range, with: new)
        _ = try bench.write(Data(bad.utf8), to: "out/bad.json")
        try bench.expect(65, "replay", "out/bad.json", says: ["out/bad.json: ", message])
    }

    @Test func whatHasNoRecordIsRefused() throws {
        let golden = goldenPath("verify/results.json")
        try bench.expect(65, "replay", golden, says: ["does not say on which files"])
        try bench.expect(65, "replay", "model.h5", says: ["cannot be read as JSON"])
        try bench.expect(65, "replay", "none.json", says: ["none.json: cannot read"])
        try bench.expect(64, "replay", "out/r.json", "--threads", "0", says: ["--threads 0"])
    }

    /// Saved results are judged as before.
    @Test func judgingReadsStatements() throws {
        try bench.expect(0, "verify", "out/r.json")
        #expect(try bench.run(["verify", "out/r.json", "--min-psnr", "500"]).code == 2)
    }
}
