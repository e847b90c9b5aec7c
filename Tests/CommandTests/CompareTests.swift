import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

@Suite(.sampled()) struct CompareTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private let quick = ["--size", "32", "--rounds", "1"]

    private func makePhotos() throws {
        try bench.makeDirectory("data")
        for name in ["a", "b"] { _ = try bench.makePhoto("data/\(name).png") }
    }

    @Test func printsTables() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            0, "export", model, "-o", "small.mlpackage", "--precision", "float16", "--size", "32")
        try makePhotos()
        let result = try bench.run(
            ["compare", model, "small.mlpackage", "--data", "data"] + quick)
        #expect(result.code == 0, "\(result.messages)")
        let lines = result.output.split(separator: "\n")
        #expect(lines[0].hasPrefix("| model | parameters | GMAC | operations | float16 | int8 |"))
        let cells = lines[2...3].map { $0.components(separatedBy: " | ") }
        #expect(cells[0][0] == "| `model`" && cells[1][0] == "| `small`")
        // The checkpoint has no package, and the package is not exported again.
        #expect(cells[0][4].hasSuffix(" MB") && cells[0][5].hasSuffix(" MB") && cells[0][6] == "–")
        #expect(cells[1][4] == "–" && cells[1][5] == "–" && cells[1][6].hasSuffix(" MB"))
        // Exporting changes neither the operations nor, at one size, the multiply-adds.
        #expect(cells[0][2...3] == cells[1][2...3])
        #expect(lines.contains("|  | `model` | `small` | gray | mean color |"))
        #expect(lines.last?.hasPrefix("2 photos at 32 × 32") == true)
    }

    /// The page begins with the photos that the last model colors worse.
    @Test func aPageShowsWhatPhotosLost() throws {
        let model = try bench.makeCheckpoint()
        let lively = try bench.makeLivelyCheckpoint("lively.h5")
        try makePhotos()
        let result = try bench.run(
            ["compare", model, lively, "--data", "data", "--html", "page.html", "--json"] + quick)
        #expect(result.code == 0, "\(result.messages)")
        let page = try String(contentsOfFile: bench.path("page.html"), encoding: .utf8)
        let models = try #require(try bench.json(result)["models"] as? [[String: Any]])
        let errors = try models.map { model in
            let quality = try #require(model["quality"] as? [String: Any])
            let photos = try #require(quality["photos"] as? [[String: Any]])
            return try photos.map { try #require($0["delta_e2000"] as? Double) }
        }
        let losses = zip(errors[1], errors[0]).map { $0 - $1 }
        let worse = losses.count { $0 > 0 }
        #expect(page.contains("is worse on \(worse) and better on \(2 - worse)"))
        #expect(page.components(separatedBy: "data:image").count - 1 == 2 * 4)
        for loss in losses {
            #expect(page.contains(String(format: "%.2f", abs(loss)) + "</span>"), "\(loss)")
        }
        let alone = try bench.run(["compare", model, "--html", "page.html"] + quick)
        #expect(alone.code == 64 && alone.messages.contains("--photos"))
    }

    @Test func printsJSON() throws {
        let model = try bench.makeCheckpoint()
        try makePhotos()
        let result = try bench.run(["compare", model, "--data", "data", "--json"] + quick)
        let report = try bench.json(result)
        let reference = try #require(report["reference"] as? [String: Any])
        #expect(reference["architecture"] as? String == "eccv16")
        #expect(try #require(reference["median_seconds"] as? Double) > 0)
        let models = try #require(report["models"] as? [[String: Any]])
        #expect(models.map { $0["name"] as? String } == [model])
        #expect(try #require(models[0]["median_seconds"] as? Double) > 0)
        #expect(try #require(models[0]["speedup"] as? Double) > 0)
        let size = try #require(models[0]["size"] as? [String: Int])
        let (half, small) = (try #require(size["float16_bytes"]), try #require(size["int8_bytes"]))
        #expect(small < half && half < 3 * small)
        let inspected = try bench.json(try bench.expect(0, "inspect", model, "--json"))
        #expect(size["parameters"] == inspected["parameters"] as? Int)
        // The quality is what evaluate reports.
        let quality = try #require(models[0]["quality"] as? [String: Any])
        let evaluated = try bench.json(
            try bench.expect(
                0, "evaluate", model, "--data", "data", "--size", "32", "--json"))
        for key in ["psnr_db", "ssim", "delta_e2000", "ab_auc_rebalanced"] {
            #expect(try #require(quality[key] as? Double) == evaluated[key] as? Double, "\(key)")
        }
        #expect((quality["photos"] as? [Any])?.count == 2)
    }

    @Test func measuresAPackageAsItIs() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(0, "export", model, "-o", "small.mlpackage", "--size", "32")
        let inspected = try bench.json(
            try bench.expect(0, "inspect", "small.mlpackage", "--json"))
        let report = try bench.json(
            try bench.run(["compare", "small.mlpackage", "--json"] + quick))
        let models = try #require(report["models"] as? [[String: Any]])
        let size = try #require(models[0]["size"] as? [String: Int])
        #expect(size["package_bytes"] == inspected["disk_bytes"] as? Int)
        #expect(models[0]["quality"] == nil)
    }

    /// A package that takes one size is not to be told it, and others take that one, too.
    @Test func theOnlySizeIsTaken() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(0, "export", model, "-o", "small.mlpackage", "--size", "64")
        let rest = ["--rounds", "1", "--threads", "1", "--json"]
        for models in [["small.mlpackage", model], [model, "small.mlpackage"]] {
            let report = try bench.json(bench.expect(0, ["compare"] + models + rest))
            #expect(report["size"] as? Int == 64)
        }
        try bench.expect(
            65, ["compare", "small.mlpackage", "--size", "96"] + rest, says: ["small.mlpackage"])
    }

    @Test func refuses() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(64, "compare", says: ["Usage"])
        try bench.expect(64, "compare", model, "--rounds", "0", says: ["--rounds"])
        try bench.expect(64, "compare", model, "--size", "100", says: ["multiple of 32"])
        try bench.expect(65, "compare", model, "absent.h5", says: ["absent.h5", "No such"])
        try bench.makeDirectory("empty")
        try bench.expect(65, "compare", model, "--data", "empty", says: ["contains no photo"])
    }

    @Test func namesBadPhotosOnce() throws {
        let model = try bench.makeCheckpoint()
        try makePhotos()
        _ = try bench.write(Data("no photo".utf8), to: "data/c.jpg")
        let result = try bench.run(["compare", model, model, "--data", "data"] + quick)
        #expect(result.code == 65)
        #expect(result.messages.contains("1 of 3 photos could not be evaluated"))
        #expect(result.messages.components(separatedBy: "data/c.jpg").count == 2)
        #expect(result.output.contains("2 photos at 32 × 32"))
    }
}
