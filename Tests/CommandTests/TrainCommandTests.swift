import Foundation
import RetintCheckpoints
import RetintImages
import RetintTestSupport
import Testing

/// `retint train` as a process of its own.
@Suite(.serialized, .sampled()) struct TrainCommandTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func start(_ arguments: [String]) throws -> RunningProcess {
        try RunningProcess(builtProgram("retint"), ["train"] + arguments)
    }

    /// Writes a configuration.
    ///
    /// - Parameter line: one more line of it.
    private func writeRun(photos: Int, _ line: String = "") throws -> String {
        let photoFolder = scratch.path("photos")
        try FileManager.default.createDirectory(
            atPath: photoFolder, withIntermediateDirectories: true)
        for number in 0..<photos {
            try Image(width: 40, height: 48, red: UInt8(60 * number), green: 90, blue: 20)
                .write(to: "\(photoFolder)/\(number).png")
        }
        let config = scratch.path("run.yaml")
        let yaml = """
            width: 0.25
            batch: 2
            steps: 1000000
            log_every: 1
            output: "\(scratch.path)/run"
            data: {train: "\(photoFolder)", crop: 32}
            \(line)
            """
        try Data(yaml.utf8).write(to: URL(filePath: config))
        return config
    }

    @Test func samplesShowInputsBesideTargets() throws {
        let config = try writeRun(photos: 3)
        let picture = scratch.path("samples.png")
        let result = try start([
            "--config", config, "--samples", picture, "--set", "old_photo.grain=1",
            "data.other_crops=64",
        ]).wait()
        #expect(result.code == 0 && result.output == "\(picture)\n", "\(result.messages)")
        // 24 pairs of 32 × 32, four in a row.
        let image = try Image(contentsOf: picture)
        #expect(image.width == 4 * 66 + 3 * 8 && image.height == 6 * 32 + 5 * 8)
        let crop = image.cropped(x: 0, y: 0, width: 32, height: 32)
        #expect(crop.pixels.enumerated().allSatisfy { crop.pixels[$0 - $0 % 3] == $1 })
        #expect(Set(crop.pixels).count > 5)
        let target = image.cropped(x: 34, y: 0, width: 32, height: 32)
        #expect(Set(stride(from: 2, to: 3072, by: 3).map { target.pixels[$0] }).count == 1)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("run")))
        let both = try start(["--config", config, "--samples", picture, "--dry-run"]).wait()
        #expect(both.code == 64 && both.messages.contains("exclude each other"))
        let other = try start(["--config", config, "--samples", scratch.path("a.txt")]).wait()
        #expect(other.code != 0 && other.messages.contains("a.txt"))
    }

    @Test(arguments: [
        ("data.crop=40", "data.crop", "is 40; mobile-unet takes multiples of 32, such as 32"),
        ("data.other_crops=96 72", "data.other_crops", "is 72; mobile-unet takes multiples"),
    ])
    func cropsThatTheNetworkDoesNotTake(setting: String, key: String, problem: String) throws {
        let config = try writeRun(photos: 3)
        let result = try start(["--config", config, "--set", setting]).wait()
        #expect(result.code == 65, "\(result.messages)")
        #expect(result.messages.contains("\(key): \(problem)"), "\(result.messages)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("run")))
    }

    /// Of a conflict, the line of the file is said, or that it was a setting.
    @Test(
        arguments: [
            ("accumulate: 7", ["steps=3"], 65, "run.yaml:7: accumulate: is 7, so weights"),
            ("", ["accumulate=7", "steps=3"], 65, "train for more steps (--set)"),
            ("init: nowhere", [], 65, "run.yaml:7), which is relative to /"),
            ("distillation: {weight: 0.5}", [], 65, "run.yaml:7: distillation.weight: is 0.5, and"),
            ("steps: 3", [], 65, "run.yaml:3: steps has more than one value"),
            ("", ["data=3"], 64, "such as data.train, data.validation, data.validation_fraction"),
        ] as [(String, [String], Int32, String)])
    func conflictsNameTheirPlaces(
        line: String, settings: [String], code: Int32, problem: String
    ) throws {
        let config = try writeRun(photos: 3, line)
        let set = settings.isEmpty ? [] : ["--set"] + settings
        let result = try start(["--config", config] + set).wait()
        #expect(result.code == code && result.messages.contains(problem), "\(result.messages)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("run")))
    }

    @Test func theFolderOfPhotosIsNoOutput() throws {
        let config = try writeRun(photos: 3)
        let result = try start(["--config", config, "--output", scratch.path("photos")]).wait()
        #expect(result.code == 64, "\(result.messages)")
        #expect(result.messages.contains("output: is the folder of data.train"))
    }

    /// Only a time limit ends a training that is counted in epochs.
    @Test func epochsAreRehearsed() throws {
        let config = try writeRun(photos: 4)
        func rehearse(_ settings: String...) throws -> String {
            let result = try start(
                ["--config", config, "--dry-run", "--set", "epochs=3", "batch=2"] + settings
            ).wait()
            #expect(result.code == 0, "\(result.messages)")
            return result.output
        }
        #expect(try rehearse().contains("steps take about"))
        let steps = try rehearse("steps=11")
        #expect(steps.contains("; 11 steps take about"), "\(steps)")
        #expect(try rehearse("epochs=9000", "time_limit=0.01").contains("the time limit of"))
    }

    /// Gray photos teach nothing but gray.
    @Test func grayPhotosAreSaid() throws {
        let config = try writeRun(photos: 4)
        let short = [
            "--config", config, "--set", "steps=2", "validate_every=1",
            "data.validation_fraction=0.5",
        ]
        let result = try start(short).wait()
        #expect(result.code == 0 && !result.messages.contains("no colors"), "\(result.messages)")
        let photos = scratch.path("gray")
        try FileManager.default.createDirectory(
            atPath: photos, withIntermediateDirectories: false)
        for number in 0..<4 {
            let pixels = (0..<40 * 40).flatMap { index in
                [UInt8](repeating: UInt8((index * (number + 3)) % 256), count: 3)
            }
            try Image(width: 40, height: 40, pixels: pixels).write(to: "\(photos)/\(number).png")
        }
        let gray = try start(
            short + ["data.train=\(photos)", "output=\(scratch.path("g"))"]
        ).wait()
        #expect(gray.messages.components(separatedBy: "have no colors").count == 2)
        #expect(gray.messages.contains("2 of the 2 photos have no colors"), "\(gray.messages)")
    }

    @Test func optionsThatANetworkDoesNotHaveAreBadInput() throws {
        let config = try writeRun(photos: 4)
        let result = try start(["--config", config, "--set", "certainty=2"]).wait()
        #expect(result.code == 65 && result.messages.contains("has no certainty"))
    }

    /// Of the first that a key names and that does not exist, the key is said.
    @Test(arguments: ["data.train", "data.validation", "init", "distillation.teacher"])
    func missingFilesAreNamedWithTheirKeys(_ key: String) throws {
        let config = try writeRun(photos: 4)
        let result = try start(["--config", config, "--set", "\(key)=nowhere"]).wait()
        #expect(result.code == 65)
        let words = "nowhere: cannot read: No such file or directory; check \(key), which is "
        #expect(result.messages.contains(words + "relative to /"), "\(result.messages)")
    }

    /// `--resume` needs no configuration but the run's own.
    @Test func aRunContinuesWithItsOwnConfiguration() throws {
        let config = try writeRun(photos: 4)
        let first = try start(["--config", config, "--set", "steps=2"]).wait()
        #expect(first.code == 0, "\(first.messages)")
        try FileManager.default.removeItem(atPath: config)
        let run = scratch.path("run")
        let second = try start(["--output", run, "--resume", "--set", "steps=3"]).wait()
        #expect(second.code == 0, "\(second.messages)")
        let metrics = try String(contentsOfFile: "\(run)/metrics.jsonl", encoding: .utf8)
        #expect(metrics.contains("\"step\":3"), "\(metrics)")
        let done = try start(["--output", run, "--resume", "--set", "steps=2"]).wait()
        #expect(done.code == 0 && done.messages.contains("has taken 3 steps already"))
        #expect(done.output.hasSuffix("done; the weights are in last.h5 and best.h5\n"))
        let begun = try start(["--output", run, "--resume", "--set", "init=\(run)/best.h5"]).wait()
        #expect(begun.code != 0, "\(begun.messages)")
        #expect(begun.messages.contains("began from random weights"), "\(begun.messages)")
        let unnamed = try start(["--resume"]).wait()
        #expect(unnamed.code == 64 && unnamed.messages.contains("--config"))
        // As of a run that was ended before its first validation.
        try FileManager.default.removeItem(atPath: "\(run)/best.h5")
        let last = try start(["--output", run, "--resume", "--set", "steps=2"]).wait()
        #expect(last.code == 0 && last.output.contains("in last.h5; there is no best.h5"))
    }

    /// Programs such as `timeout` signal a process and its group, which is one request.
    @Test(arguments: [1, 3]) func controlCSavesTheRun(signals: Int) throws {
        let config = try writeRun(photos: 4)
        let process = try start(["--config", config])
        let metrics = scratch.path("run/metrics.jsonl")
        let deadline = Date.now + 60
        while (FileManager.default.contents(atPath: metrics) ?? Data()).isEmpty {
            try #require(process.isRunning && Date.now < deadline, "no step was taken")
            Thread.sleep(forTimeInterval: 0.02)
        }
        process.interrupt()
        for _ in 1..<signals {
            Thread.sleep(forTimeInterval: 0.004)
            process.interrupt()
        }
        // The limit turns a run that ignores the signal into a failure of the test.
        let result = try process.wait(limit: 60)
        #expect(!result.isSignaled)
        #expect(result.code == 130)
        let last = try Checkpoint(contentsOf: scratch.path("run/last.h5"))
        #expect(last.training != nil)
        let again = try start([
            "--config", config, "--resume", "--set", "time_limit=0.001",
        ]).wait()
        #expect(again.code == 0, "\(again.messages)")
        #expect(again.messages.contains("multiply-adds") && again.messages.contains("a step needs"))
        #expect(again.output.contains("--resume --set time_limit=MINUTES continues"))
        let unasked = try start(["--config", config]).wait()
        #expect(unasked.code == 64)
        #expect(unasked.messages.contains("--resume"))
    }

    /// What a configuration names, and the network cannot use, is bad input and no wrong usage.
    @Test func refusesATeacherOfAnotherBatch() throws {
        let teacher = scratch.path("teacher")
        try Checkpoint(.named("pico-unet", .init(width: 0.0625)), seed: 5)
            .write(to: teacher + ".h5")
        let export = try RunningProcess(
            builtProgram("retint"),
            ["export", teacher + ".h5", "-o", teacher + ".mlpackage", "--size", "32"])
        #expect(try export.wait().code == 0)
        let config = try writeRun(
            photos: 2, "distillation: {teacher: \"\(teacher).mlpackage\"}")
        let result = try start(["--config", config, "--dry-run"]).wait()
        #expect(result.code == 65, "\(result.messages)")
        for words in ["distillation.teacher: \(teacher).mlpackage: does not", "name a checkpoint"] {
            #expect(result.messages.contains(words), "\(result.messages)")
        }
    }

    @Test(arguments: [
        (["optimizer.learning_rat=1"], Int32(64), "did you mean optimizer.learning_rate?"),
        (["batch=none"], 64, "a whole number from 1 to 4096"),
        ([], 65, "contains no photos"),
    ])
    func refusals(_ settings: [String], _ code: Int32, _ words: String) throws {
        let config = try writeRun(photos: 0)
        let result = try start(["--config", config] + settings.flatMap { ["--set", $0] }).wait()
        #expect(result.code == code)
        #expect(result.messages.contains(words), "\(result.messages)")
    }
}
