import Foundation
import RetintCheckpoints
import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint report`.
@Suite(.sampled()) struct ReportTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private let quick = ["--size", "32", "--runs", "25", "--threads", "1"]

    private func report(_ arguments: String...) throws -> [String: Any] {
        let result = try bench.run(["report"] + arguments + ["--json"] + quick)
        #expect(result.code == 0, "\(result.messages)")
        return try bench.json(result)
    }

    @Test func measuresACheckpoint() throws {
        let name = try bench.makeCheckpoint()
        let report = try report(name, "--fps", "20")
        #expect(report["fps"] as? Double == 20)
        #expect(report["against"] == nil && report["ratios"] == nil)
        let machine = try #require(report["machine"] as? [String: Any])
        #expect(machine["threads"] as? Int == 1)
        let model = try #require(report["model"] as? [String: Any])
        #expect(model["name"] as? String == name && model["kind"] as? String == "checkpoint")
        #expect(model["architecture"] as? String == "mobile-unet")
        let bytes = try Data(contentsOf: URL(filePath: bench.path(name))).count
        #expect(model["file_bytes"] as? Int == bytes)
        #expect(model["height"] as? Int == 32 && model["width"] as? Int == 32)
        try checkStartup(model)
        try checkPredictions(model, count: 25)
        try checkProfile(model)
        let placement = try #require(model["placement"] as? [String: Any])
        #expect(placement["operations"] as? Int == model["operations"] as? Int)
    }

    @Test func limitsMemory() throws {
        let name = try bench.makeCheckpoint()
        try bench.expect(
            65, "report", name, "--size", "256", "--memory-limit", "1",
            says: ["of the limit of 1 MiB are left"])
    }

    /// Equal up to the last digits, which JSON rounds.
    private func isClose(_ value: Double?, _ expected: Double) -> Bool {
        value.map { abs($0 - expected) <= 1e-12 * abs(expected) } ?? false
    }

    private func checkStartup(_ model: [String: Any]) throws {
        let startup = try #require(model["startup"] as? [String: Any])
        let cold = startup["cold"] as? [String: Double]
        // Either the pages were gone, or the report says why they were not.
        #expect((cold == nil) == (startup["cold_problem"] is String))
        let warm = try #require(startup["warm"] as? [String: Double])
        for times in [cold, warm].compactMap({ $0 }) {
            let total = try #require(times["total_seconds"])
            for part in ["load", "compile", "first_prediction"] {
                let seconds = try #require(times["\(part)_seconds"])
                #expect(seconds > 0 && seconds < total, "\(part)")
            }
        }
        let memory = try #require(model["memory"] as? [String: Int])
        let (peak, base) = (try #require(memory["peak_bytes"]), try #require(memory["base_bytes"]))
        #expect(base > 1_000_000 && peak >= base && memory["added_bytes"] == peak - base)
        #expect(try #require(memory["weight_bytes"]) < #require(memory["added_bytes"]))
    }

    private func checkPredictions(_ model: [String: Any], count: Int) throws {
        let seconds = try #require(model["prediction_seconds"] as? [Double])
        #expect(seconds.count == count && seconds.allSatisfy { $0 > 0 })
        let summary = try #require(model["prediction"] as? [String: Double])
        #expect(summary["minimum_seconds"] == seconds.min())
        #expect(summary["maximum_seconds"] == seconds.max())
        #expect(summary["median_seconds"] == seconds.sorted()[count / 2])
        let ordered = ["minimum", "median", "p95", "p99", "maximum"].compactMap {
            summary["\($0)_seconds"]
        }
        #expect(ordered.count == 5 && ordered == ordered.sorted())
        let rate = try #require(model["predictions_per_second"] as? Double)
        #expect(abs(rate * seconds.reduce(0, +) - Double(count)) < 1e-6)
        let live = try #require(model["live"] as? [String: Any])
        #expect(live["fps"] as? Double == 20 && live["colored"] as? Int == count)
        #expect(live["frames"] as? Int == count + (live["dropped"] as? Int ?? -1))
        let rates = try #require(model["rates"] as? [[String: Any]])
        #expect(rates.map { $0["fps"] as? Double } == [24, 25, 30, 50, 60])
    }

    private func checkProfile(_ model: [String: Any]) throws {
        let profile = try #require(model["profile"] as? [String: Any])
        let total = try #require(profile["steps_seconds"] as? Double)
        let whole = try #require(profile["prediction_seconds"] as? Double)
        #expect(isClose(profile["steps_share"] as? Double, total / whole))
        for list in ["operations", "steps"] {
            let entries = try #require(profile[list] as? [[String: Any]])
            let seconds = entries.compactMap { $0["seconds"] as? Double }
            let shares = entries.compactMap { $0["share"] as? Double }
            #expect(seconds.count == entries.count && shares.count == entries.count)
            #expect(abs(seconds.reduce(0, +) - total) < 1e-9 * total)
            #expect(abs(shares.reduce(0, +) - 1) < 1e-9)
        }
        let kinds = try #require(profile["operations"] as? [[String: Any]])
        #expect(kinds.contains { ($0["name"] as? String)?.hasPrefix("conv2d") == true })
    }

    @Test func colorsAVideo() throws {
        let name = try bench.makeCheckpoint()
        try bench.makeVideo("video.y4m", frames: 7)
        let report = try report(name, "--video", "video.y4m")
        let model = try #require(report["model"] as? [String: Any])
        let video = try #require(model["video"] as? [String: Any])
        #expect(video["name"] as? String == "video.y4m" && video["frames"] as? Int == 7)
        #expect(video["width"] as? Int == 34 && video["height"] as? Int == 22)
        #expect(video["stable_colors"] as? Bool == true)
        let seconds = try #require(video["seconds"] as? Double)
        #expect(isClose(video["frames_per_second"] as? Double, 7 / seconds))
        let stages = try #require(
            (video["stages"] as? [String: Any])?["seconds"] as? [String: Double])
        let shares = try #require(video["shares"] as? [String: Double])
        #expect(
            Set(stages.keys) == ["input", "resizing", "network", "smoothing", "painting", "output"])
        let total = stages.values.reduce(0, +)
        for (stage, seconds) in stages {
            #expect(seconds > 0 && isClose(shares[stage], seconds / total), "\(stage)")
        }
        let text = try bench.run(["report", name, "--video", "video.y4m"] + quick).output
        #expect(text.contains("time for network") && text.contains("7 frames of video.y4m"))
    }

    @Test func setsAnotherModelBesideIt() throws {
        let name = try bench.makeCheckpoint()
        try bench.expect(
            0, "export", name, "-o", "half.mlpackage", "--precision", "float16", "--size", "32")
        let report = try report(name, "--against", "half.mlpackage")
        let model = try #require(report["model"] as? [String: Any])
        let other = try #require(report["against"] as? [String: Any])
        #expect(other["kind"] as? String == "mlpackage" && other["architecture"] == nil)
        #expect(other["precision"] as? String == "float16")
        // The checkpoint's operations are those of its float16 package.
        #expect(other["operations"] as? Int == model["operations"] as? Int)
        let ratios = try #require(report["ratios"] as? [String: Double])
        let files = try [other, model].map { try #require($0["file_bytes"] as? Int) }
        #expect(isClose(ratios["file_bytes"], Double(files[0]) / Double(files[1])))
        let medians = try [other, model].map {
            try #require(($0["prediction"] as? [String: Double])?["median_seconds"])
        }
        #expect(isClose(ratios["median_seconds"], medians[0] / medians[1]))
        #expect(ratios["operations"] == 1 && (ratios["warm_total_seconds"] ?? 0) > 0)
    }

    /// A file system in memory keeps all pages: that is not a cold start, and the report says so.
    @Test func aCacheThatStaysIsNotCold() throws {
        let folder = "/dev/shm/retint-test-\(UUID().uuidString)"
        guard
            (try? FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)) != nil
        else { return }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let model = "\(folder)/pico.h5"
        try Checkpoint(.named("pico-unet"), seed: 1).write(to: model)
        let measured = try #require(try report(model)["model"] as? [String: Any])
        let startup = try #require(measured["startup"] as? [String: Any])
        #expect(startup["cold"] == nil)
        #expect((startup["cold_problem"] as? String)?.contains("stayed in memory") == true)
        let result = try bench.run(["report", model] + quick)
        #expect(result.output.contains("cold start not measured"))
        let line = result.output.split(separator: "\n").first { $0.contains("load, cold") }
        #expect(line?.hasSuffix("not measured") == true)
    }

    /// The peak is reset before each model: a small one does not inherit that of a large one.
    @Test(.enabled(if: !isSanitized, "a sanitizer's memory would count"))
    func thePeakIsTheModelsOwn() throws {
        // The weights of the large one are far more than what the heap keeps of earlier work.
        for (name, file) in [("eccv16", "large.h5"), ("pico-unet", "pico.h5")] {
            try Checkpoint(.named(name), seed: 1).write(to: bench.path(file))
        }
        let report = try report("large.h5", "--against", "pico.h5")
        let memories = try ["model", "against"].map { key in
            let model = try #require(report[key] as? [String: Any])
            return try #require(model["memory"] as? [String: Int])
        }
        let differences = try ["peak_bytes", "weight_bytes"].map { key in
            try #require(memories[0][key]) - #require(memories[1][key])
        }
        #expect(differences[1] > 100_000_000 && differences[0] > differences[1] / 2)
    }

    @Test func printsATable() throws {
        let name = try bench.makeCheckpoint()
        let result = try bench.run(["report", name, "--against", name] + quick)
        #expect(result.code == 0, "\(result.messages)")
        for text in [
            " frames are colored in time and ", "95th percentile", "load, cold page cache",
            "conv2d",
            "peak of the process", "The ratio is the value of", "rules, not a measurement",
            "simulated exactly from the measured durations", "posix_fadvise(POSIX_FADV_DONTNEED)",
        ] {
            #expect(result.output.contains(text), "\(text)")
        }
        let parameters = result.output.split(separator: "\n").first { $0.hasPrefix("  parameters") }
        #expect(parameters?.hasSuffix("  1.00") == true)
        #expect(bench.files == [name])
    }

    @Test func writesAPage() throws {
        let name = try bench.makeCheckpoint("a&<b>.h5")
        let result = try bench.run(["report", name, "-o", "page.html"] + quick)
        #expect(result.code == 0, "\(result.messages)")
        #expect(result.output.hasPrefix("a&<b>.h5: at 30 fps, "))
        let page = try String(contentsOfFile: bench.path("page.html"), encoding: .utf8)
        #expect(page.contains("a&amp;&lt;b&gt;.h5") && !page.contains("<b>.h5"))
        #expect(page.components(separatedBy: "<svg ").count == 3)
        #expect(page.contains("class=\"marker\"") && page.contains("33.3 ms: 30 fps"))
        #expect(page.contains("prefers-color-scheme: dark"))
        for reference in ["http://", "https://", "src=", "href=", "<script"] {
            #expect(!page.contains(reference), "\(reference)")
        }
        #expect(bench.files == [name, "page.html"])
    }

    @Test func refuses() throws {
        let name = try bench.makeCheckpoint()
        for (option, value) in [
            ("--fps", "0"), ("--fps", "nan"), ("--fps", "1001"), ("--runs", "0"),
            ("--seconds", "-1"), ("--seconds", "inf"), ("--threads", "0"), ("--size", "0"),
            ("--size", "20000"),
        ] {
            let word = String(option.dropFirst(2))
            try bench.expect(64, "report", name, "\(option)=\(value)", says: [word, "must be"])
        }
        try bench.expect(
            64, "report", name, "--seconds", "1", "--runs", "1", says: ["either --seconds or"])
        try bench.expect(64, "report", name, "--size", "33", says: ["multiple of 32"])
        try bench.expect(65, "report", "absent.h5", says: ["absent.h5"])
        try bench.expect(65, "report", name, "--against", "absent.h5", says: ["absent.h5"])
        let page = "page.html"
        try bench.expect(64, "report", name, "-o", name, says: ["must end in .html"])
        try FileManager.default.copyItem(atPath: bench.path(name), toPath: bench.path(page))
        try bench.expect(64, "report", page, "-o", page, says: ["is the input itself"])
        try FileManager.default.removeItem(atPath: bench.path(page))
        // The page's place is checked before anything is measured.
        try bench.expect(
            1, "report", "absent.h5", "-o", "absent/page.html", says: ["absent/page.html"])
        #expect(bench.files == [name])
    }
}
