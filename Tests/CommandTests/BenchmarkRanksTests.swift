import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `mpirun retint benchmark`, and what it predicts.
@Suite(
    .sampled(),
    .serialized,
    .enabled(if: Launcher.isUsable, "no MPI here: run Scripts/setup --mpi to test with it"))
struct BenchmarkRanksTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private func measure(_ arguments: String...) throws -> ProcessResult {
        try Launcher.start(
            2, "retint",
            [
                "benchmark", "mobile-unet", "--mode", "training", "--size", "64", "--threads", "1",
                "--runs", "2",
            ] + arguments
        ).wait(limit: 120)
    }

    @Test func twoRanksMeasureOneStepAndPredictOthers() throws {
        let result = try measure("--batch", "3", "--json")
        #expect(result.code == 0, "\(result.messages)")
        let report = try bench.json(result)
        #expect(report["batch"] as? Int == 3)
        let ranks = try #require(report["ranks"] as? [String: Any])
        #expect(ranks["ranks"] as? Int == 2)
        for key in ["step", "step_without_overlap"] {
            let step = try #require(ranks[key] as? [String: Double])
            let (seconds, waited) = (try #require(step["seconds"]), step["waited_seconds"] ?? -1)
            #expect(seconds > 0 && waited >= 0 && waited < seconds, "\(key)")
        }
        let timeline = try #require(ranks["timeline"] as? [String: Any])
        let buckets = try #require(timeline["buckets"] as? [[String: Double]])
        let ready = buckets.compactMap { $0["ready_seconds"] }
        let backward = try #require(timeline["backward_seconds"] as? Double)
        #expect(ready == ready.sorted() && (ready.last ?? 0) <= backward && ready.count > 1)
        let bytes = buckets.compactMap { $0["bytes"] }.reduce(0, +)
        #expect(bytes >= Double(try #require(report["weight_bytes"] as? Int)) / 3.1)
        #expect((ranks["sums"] as? [[String: Double]])?.last?["bytes"] == bytes)
        let link = try #require(ranks["link"] as? [String: Double])
        #expect(link.count == 5 && link.values.allSatisfy { $0 >= 0 && $0.isFinite })

        _ = try bench.write(Data(result.output.utf8), to: "two.json")
        let predicted = try bench.expect(
            0, "benchmark", "two.json", "--predict-ranks", "8,1024", "--json")
        let rows = try #require(try bench.json(predicted)["predictions"] as? [[String: Any]])
        #expect(rows.map { $0["ranks"] as? Int } == [8, 1024])
        #expect(rows.map { $0["batch"] as? Int } == [16, 2048])
    }

    @Test func onePrintsForAll() throws {
        let result = try measure("--predict-ranks", "4")
        #expect(result.code == 0, "\(result.messages)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("mobile-unet: training, batch 2,") }.count == 1)
        #expect(lines.filter { $0.hasPrefix("2 ranks: ") }.count == 1)
        #expect(lines.filter { $0.hasPrefix("predicted from 2 ranks") }.count == 1)
        #expect(lines.last?.split(separator: " ").prefix(2) == ["4", "4"])
    }

    @Test func eachRankNeedsAnImage() throws {
        let result = try measure("--batch", "1")
        #expect(result.code == 64)
        #expect(result.messages.contains("batch 1: must be from 2 to"), "\(result.messages)")
    }
}

/// Predictions from a file, without MPI.
@Suite(.sampled()) struct PredictionCommandTests {
    private let bench: CommandBench

    /// The case of `StepPredictionTests`, with 4 images for each rank.
    private static let saved = """
        {"model": "net", "ranks": {
          "ranks": 2, "batch": 8, "step": {"seconds": 5, "waited_seconds": 1.5},
          "step_without_overlap": {"seconds": 7, "waited_seconds": 3.5},
          "one_image_seconds": 1.5, "sums": [],
          "timeline": {"backward_seconds": 3, "update_seconds": 0.5, "buckets": [
            {"bytes": 100, "ready_seconds": 1}, {"bytes": 200, "ready_seconds": 2}]},
          "link": {"latency_seconds": 0.25, "bytes_per_second": 100, "message_seconds": 0,
            "sum_seconds_per_byte": 0, "lost_seconds_per_byte": 0}}}
        """

    init() throws {
        bench = try CommandBench()
        _ = try bench.write(Data(Self.saved.utf8), to: "two.json")
    }

    @Test func predictsFromAFile() throws {
        let result = try bench.expect(0, "benchmark", "two.json", "--predict-ranks", "1,2,4")
        #expect(
            result.output == """
                predicted from 2 ranks, for links of 0.00 Gb/s and a latency of 250.0 ms
                ranks  batch    step  images/s  efficiency  waiting
                    1      4  3.50 s       1.1     100.0 %    0.0 %
                    2      8  5.00 s       1.6      70.0 %   30.0 %
                    4     16  6.50 s       2.5      53.8 %   46.2 %

                """)
    }

    /// 1 kB/s: the buckets take 0.1 and 0.2 s, and are there before the backward pass ends.
    @Test func asksWhatIf() throws {
        let result = try bench.expect(
            0, "benchmark", "two.json", "--predict-ranks", "2,8", "--predict-batch", "8",
            "--bandwidth", "8e-6", "--latency", "0", "--json")
        let report = try bench.json(result)
        let rows = try #require(report["predictions"] as? [[String: Double]])
        #expect(rows.map { $0["batch"] } == [8, 8])
        #expect(abs((rows[0]["step_seconds"] ?? 0) - 3.5) < 1e-9)
        #expect((report["link"] as? [String: Double])?["bytes_per_second"] == 1000)
    }

    @Test func drawsAPageAndAPicture() throws {
        for file in ["plot.html", "plot.svg"] {
            try bench.expect(
                0, "benchmark", "two.json", "--predict-ranks", "1,2,4,8", "--plot", file)
            let text = try String(contentsOfFile: bench.path(file), encoding: .utf8)
            #expect(text.components(separatedBy: "<polyline").count == 3)
            #expect(text.contains("images/s of net") && text.contains("● measured<"))
        }
        let picture = try String(contentsOfFile: bench.path("plot.svg"), encoding: .utf8)
        #expect(picture.hasPrefix("<svg xmlns=") && picture.hasSuffix("</svg>\n"))
    }

    @Test func refusesOptions() throws {
        for (options, text) in [
            (["--predict-ranks", "0"], "--predict-ranks"),
            (["--predict-ranks", "2,,4"], "--predict-ranks"),
            (["--predict-ranks", "70000"], "--predict-ranks"),
            (["--predict-ranks", "8", "--predict-batch", "7"], "must be from 8, one image"),
            (["--predict-ranks", "8", "--bandwidth", "0"], "--bandwidth 0.0: must be from"),
            (["--predict-ranks", "8", "--latency", "nan"], "--latency nan: must be from"),
            (["--predict-ranks", "8", "--plot", "plot.gif"], "must end in .html or .svg"),
            (["--plot", "plot.svg"], "--plot has no effect without --predict-ranks"),
        ] {
            try bench.expect(64, ["benchmark", "two.json"] + options, says: [text])
        }
        try bench.expect(
            64, "benchmark", "mobile-unet", "--mode", "training", "--predict-ranks", "8",
            says: ["needs a measurement of several ranks"])
        try bench.expect(
            64, "benchmark", "two.json", "--predict-ranks", "8", "--plot", "./two.json",
            says: ["must end in .html or .svg"])
    }

    @Test func refusesFiles() throws {
        try bench.expect(65, "benchmark", "absent.json", "--predict-ranks", "8", says: ["absent"])
        _ = try bench.write(Data("{\"model\": \"net\"}".utf8), to: "bad.json")
        try bench.expect(
            65, "benchmark", "bad.json", "--predict-ranks", "8",
            says: ["bad.json: does not report a training step of several ranks"])
        for (value, other, key) in [
            ("\"ranks\": 2", "\"ranks\": 1", "ranks: must be from 2.0"),
            ("\"batch\": 8", "\"batch\": 1", "batch: must be from 2.0"),
            ("\"bytes_per_second\": 100", "\"bytes_per_second\": 0", "bytes_per_second"),
            ("\"bytes\": 200", "\"bytes\": -200", "buckets.bytes"),
            ("\"ready_seconds\": 2", "\"ready_seconds\": -2", "buckets.ready_seconds"),
            ("\"backward_seconds\": 3", "\"backward_seconds\": 0", "backward_seconds"),
        ] {
            let text = Self.saved.replacingOccurrences(of: value, with: other)
            #expect(text != Self.saved)
            _ = try bench.write(Data(text.utf8), to: "bad.json")
            try bench.expect(
                65, "benchmark", "bad.json", "--predict-ranks", "8", says: ["bad.json: \(key)"])
        }
    }
}
