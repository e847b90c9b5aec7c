import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// Commands whose work ranks share out: their results are those of one process.
@Suite(
    .sampled(),
    .serialized,
    .enabled(if: Launcher.isUsable, "no MPI here: run Scripts/setup --mpi to test with it"))
struct SharedWorkTests {
    private let bench: CommandBench
    private static let photoCount = 5

    init() throws {
        bench = try CommandBench()
        try bench.makeDirectory("photos")
        for number in 0..<Self.photoCount {
            _ = try bench.makePhoto("photos/\(number).png", width: 48 + 8 * number, height: 40)
        }
    }

    /// Runs `retint` on some ranks, of which each has one thread.
    private func run(_ ranks: Int, _ arguments: String...) throws -> ProcessResult {
        try Launcher.start(ranks, "retint", arguments, in: bench.directory).wait(limit: 120)
    }

    private func addBrokenPhoto() throws {
        _ = try bench.write(Data("text".utf8), to: "photos/1b.jpg")
    }

    private func count(_ text: String, in messages: String) -> Int {
        messages.components(separatedBy: text).count - 1
    }

    @Test(arguments: [2, 3]) func evaluationsAreThoseOfOneProcess(ranks: Int) throws {
        try addBrokenPhoto()
        let model = try bench.makeLivelyCheckpoint()
        try bench.makeFeatures("features.h5")
        let arguments = [
            "evaluate", model, "--data", "photos", "--size", "32", "--threads", "1", "--json",
            "--features", "features.h5", "--old-photo", "grain,dust",
        ]
        let alone = try bench.expect(65, arguments + ["--html", "one.html"])
        let shared = try Launcher.start(
            ranks, "retint", arguments + ["--html", "many.html"], in: bench.directory
        ).wait(limit: 60)
        #expect(shared.code == 65 && shared.output == alone.output)
        #expect(alone.output.contains("photos/4.png"))
        #expect(alone.output.contains("\"frechet_distance\""))
        #expect(count("1b.jpg: not a", in: shared.messages) == 1, "\(shared.messages)")
        #expect(count("1 of 6 photos could not be", in: shared.messages) == 1)
        #expect(try strips("many.html") == strips("one.html"))
        #expect(try strips("one.html").count > Self.photoCount)
    }

    /// The pictures of a page, which also says when it was made.
    private func strips(_ page: String) throws -> [Substring] {
        try String(contentsOfFile: bench.path(page), encoding: .utf8).split(separator: "<")
            .filter { $0.contains("photos/") || $0.contains("base64") }
    }

    @Test func clipsAreMeasuredAsByOneProcess() throws {
        try addBrokenPhoto()
        let model = try bench.makeLivelyCheckpoint()
        let arguments = [
            "evaluate", model, "--video", "--data", "photos", "--size", "64", "--json",
        ]
        let alone = try bench.expect(65, arguments)
        let shared = try Launcher.start(2, "retint", arguments, in: bench.directory).wait(limit: 60)
        #expect(shared.code == 65 && shared.output == alone.output)
        #expect(count("1b.jpg: not a", in: shared.messages) == 1, "\(shared.messages)")
    }

    @Test func photosAreColoredAndListedInOrder() throws {
        try addBrokenPhoto()
        let model = try bench.makeLivelyCheckpoint()
        let alone = try bench.expect(65, "colorize", model, "photos", "-o", "one")
        let shared = try run(3, "colorize", model, "photos", "-o", "many", "--threads", "1")
        #expect(shared.code == 65, "\(shared.messages)")
        #expect(shared.output == alone.output.replacingOccurrences(of: "one/", with: "many/"))
        #expect(count("1b.jpg: not a", in: shared.messages) == 1, "\(shared.messages)")
        for number in 0..<Self.photoCount {
            let bytes = ["one", "many"].map {
                FileManager.default.contents(atPath: bench.path("\($0)/\(number).png"))
            }
            #expect(bytes[0] != nil && bytes[0] == bytes[1])
        }
        try FileManager.default.removeItem(atPath: bench.path("many/2.png"))
        let again = try run(2, "colorize", model, "photos", "-o", "many", "--skip-existing")
        #expect(again.output == "many/2.png\n")
        #expect(again.messages.contains("skipped 4 of 6 photos: already colored"))
    }

    /// More ranks than photos, and an instance that the masks of other ranks have.
    @Test func instancesMayBeOnAnyRank() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("two")
        try bench.makeDirectory("masks")
        for (number, mask) in ["instances8.png", "instances16.png"].enumerated() {
            _ = try bench.makePhoto("two/\(number).png")
            try FileManager.default.copyItem(
                atPath: goldenPath(mask), toPath: bench.path("masks/\(number).png"))
        }
        let arguments = ["colorize", model, "two", "-o", "out", "--mask", "masks", "--instances"]
        let found = try Launcher.start(3, "retint", arguments + ["3,300"], in: bench.directory)
            .wait(limit: 60)
        #expect(found.code == 0, "\(found.messages)")
        let missing = try Launcher.start(3, "retint", arguments + ["3,44"], in: bench.directory)
            .wait(limit: 60)
        #expect(missing.code == 65 && missing.messages.contains("has instance 44"))
    }

    @Test func anInterruptionOfOneRankEndsAll() throws {
        let model = try bench.makeCheckpoint()
        try bench.makeDirectory("many")
        for number in 0..<40 {
            _ = try bench.makePhoto("many/\(number).png", width: 400, height: 400)
        }
        let process = try Launcher.start(
            2, "retint",
            [
                "colorize", model, bench.path("many"), "-o", "out", "--threads", "1", "--size",
                "512",
            ],
            in: bench.directory)
        let deadline = Date.now + 60
        while bench.files.filter({ $0.hasPrefix("out/") }).count < 2 {
            try #require(process.isRunning && Date.now < deadline, "no photo was colored")
            Thread.sleep(forTimeInterval: 0.01)
        }
        let rank = try #require(try Launcher.processes(naming: bench.path("many"))[1])
        kill(rank, SIGUSR1)
        let result = try process.wait(limit: 60)
        #expect(result.code == 130, "\(result.messages)")
        #expect(count("--skip-existing continues from there", in: result.messages) == 1)
        let written = bench.files.filter { $0.hasPrefix("out/") }.count
        #expect(result.output.split(separator: "\n").count == written && written < 40)
    }

    @Test func candidatesAreSharedOut() throws {
        let yaml = """
            {batch: 2, steps: 4, threads: 1, seed: 1, data: {train: photos, crop: 32}}
            """
        _ = try bench.write(Data(yaml.utf8), to: "base.yaml")
        func candidates(_ output: String) -> [String] {
            ["search", "--config", "base.yaml", "-o", output, "--rounds", "2", "--size", "32"]
                + [0.25, 0.5, 0.75].flatMap { ["--candidate", "width=\($0)"] }
        }
        let alone = try bench.expect(0, candidates("one") + ["--json"])
        let shared = try Launcher.start(
            2, "retint", candidates("many") + ["--json"], in: bench.directory
        ).wait(limit: 120)
        #expect(shared.code == 0, "\(shared.messages)")
        func rows(_ result: ProcessResult) throws -> [[String]] {
            let rows = try bench.json(result)["candidates"] as? [[String: Any]] ?? []
            return rows.map { row in
                ["candidate", "steps", "loss", "delta_e2000"].map { "\(row[$0] ?? "-")" }
            }
        }
        #expect(try rows(shared) == rows(alone))
        #expect(try rows(alone).map { $0[1] } == ["4", "4", "2"])
        #expect(bench.files.contains("many/report.html"))
    }

    @Test func quantizationsAreThoseOfOneProcess() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(0, "export", model, "-o", "model.mlpackage", "--size", "32")
        func search(_ output: String) -> [String] {
            [
                "quantize", "model.mlpackage", "--search", "--calibrate", "photos",
                "--max-delta-e", "2", "--limit", "2", "-o", output, "--json",
            ]
        }
        let alone = try bench.expect(0, search("one.mlpackage"))
        let shared = try Launcher.start(
            2, "retint", search("many.mlpackage"), in: bench.directory
        ).wait(limit: 120)
        #expect(shared.code == 0 && shared.output == alone.output, "\(shared.messages)")
        #expect(try contents("many.mlpackage") == contents("one.mlpackage"))
        let refused = try run(
            2, "quantize", "model.mlpackage", "--weights", "int8", "-o", "i.mlpackage")
        #expect(refused.code == 64, "\(refused.messages)")
    }

    private func contents(_ package: String) throws -> [String: Data?] {
        let files = bench.files.filter { $0.hasPrefix("\(package)/") }
        return Dictionary(
            uniqueKeysWithValues: files.map { file in
                (
                    String(file.dropFirst(package.count)),
                    FileManager.default.contents(atPath: bench.path(file))
                )
            })
    }
}
