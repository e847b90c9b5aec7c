import Foundation
import RetintCheckpoints
import RetintFiles
import RetintPhotoData
import RetintTensorFiles
import RetintTestSupport
import Testing

@testable import RetintTraining

/// What an interrupted run keeps, and what other processes may do meanwhile.
@Suite(.serialized) struct DurabilityTests {
    private func records(_ scratch: TemporaryFolder, _ run: String) throws -> [MetricsRecord] {
        let text = try String(
            contentsOfFile: "\(scratch.path)/\(run)/metrics.jsonl", encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            var record = try JSONDecoder().decode(MetricsRecord.self, from: Data(line.utf8))
            // How long steps took differs from run to run.
            (record.imagesPerSecond, record.waitingShare) = (nil, nil)
            return record
        }
    }

    /// Trains in one go and in two parts, the first of which is stopped after an event.
    private func runs(
        _ scratch: TemporaryFolder, _ configuration: TrainingConfiguration,
        stopAfter isLast: @escaping (TrainingEvent) -> Bool
    ) throws {
        var configuration = configuration
        configuration.output = "\(scratch.path)/whole"
        #expect(try TrainingRun(configuration).run() == .finished)
        configuration.output = "\(scratch.path)/parts"
        var isStopped = false
        let first = try TrainingRun(configuration) { if isLast($0) { isStopped = true } }
        #expect(try first.run { isStopped } == .interrupted)
        #expect(try TrainingRun(configuration, from: .resumed).run() == .finished)
    }

    /// The validation that was due is made up for: with it, the best weights and the patience.
    @Test(arguments: [3, 6])
    func aValidationThatWasStoppedIsRepeated(last: Int) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(9)
        let configuration = try scratch.configuration(
            "data.validation=\(scratch.path)/photos", "validate_every=3")
        try runs(scratch, configuration) { event in
            if case .metrics(let record) = event {
                record.kind == "train" && record.step == last
            } else {
                false
            }
        }
        let (whole, parts) = (try records(scratch, "whole"), try records(scratch, "parts"))
        #expect(whole.filter { $0.kind == "validation" }.map(\.step) == [3, 6])
        #expect(whole == parts)
        for name in ["last.h5", "best.h5"] {
            let pair = try ["whole", "parts"].map {
                try Checkpoint(contentsOf: "\(scratch.path)/\($0)/\(name)")
            }
            #expect(pair[0].state == pair[1].state && pair[0].optimizer == pair[1].optimizer)
        }
    }

    /// Links in place of a run's files would lead its writes to files elsewhere.
    @Test(arguments: [
        "config.yaml", "metrics.jsonl", "report.html", "last.h5", "best.h5", "samples",
    ])
    func linksInTheFolderAreRefused(name: String) throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        var configuration = try scratch.configuration("steps=2", "save_every=1")
        configuration.output = scratch.path("run")
        let isNew = name != "last.h5"
        if !isNew { #expect(try TrainingRun(configuration).run() == .finished) }
        try createFolder(configuration.output)
        let (path, target) = (scratch.path("run/\(name)"), scratch.path("mine"))
        if name == "samples" { try createFolder(target) }
        if name != "samples" { try AtomicFile.write([1, 2, 3], to: target) }
        unlink(path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        for start in [TrainingStart.fresh, .resumed] where isNew == (start == .fresh) {
            let error = #expect(throws: FileError.self) {
                _ = try TrainingRun(configuration, from: start).run()
            }
            #expect(error?.reason.contains("of this run") == true)
        }
        if name != "samples" { #expect(try readFile(target) == [1, 2, 3]) }
        if name == "samples" { #expect(entries(of: target) == []) }
    }

    @Test func metricsOfTooManyLinesAreRefused() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        var configuration = try scratch.configuration("steps=2")
        configuration.output = scratch.path("run")
        #expect(try TrainingRun(configuration).run() == .finished)
        let lines = [UInt8](String(repeating: "0\n", count: 1 << 20 + 1).utf8)
        try AtomicFile.write(lines, to: scratch.path("run/metrics.jsonl"))
        configuration.steps = 4
        let error = #expect(throws: FileError.self) {
            _ = try TrainingRun(configuration, from: .resumed).run()
        }
        #expect(error?.reason.contains("has over 1048576 lines") == true)
        #expect(try readFile(scratch.path("run/metrics.jsonl")) == lines)
    }

    @Test func picturesOfOthersStay() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        var configuration = try scratch.configuration("steps=2")
        configuration.output = scratch.path("run")
        try createFolder(scratch.path("run/samples"))
        let (other, like) = ("run/samples/12.png", "run/samples/0000002.png")
        try AtomicFile.write([1], to: scratch.path(other))
        try AtomicFile.write([2], to: scratch.path(like))
        let error = #expect(throws: TrainingError.self) {
            _ = try TrainingRun(configuration).run()
        }
        #expect(error?.description.contains("is not of a run in this folder") == true)
        #expect(try readFile(scratch.path(like)) == [2])
        unlink(scratch.path(like))
        #expect(try TrainingRun(configuration).run() == .finished)
        #expect(try readFile(scratch.path(other)) == [1])
    }

    /// What an interruption saves is not one of the checkpoints to keep.
    @Test func interruptionsKeepNoCheckpoint() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let configuration = try scratch.configuration("save_every=2", "keep_last=2", "steps=6")
        try runs(scratch, configuration) { event in
            if case .step(let step, _) = event { step == 5 } else { false }
        }
        for run in ["whole", "parts"] {
            let kept = (entries(of: "\(scratch.path)/\(run)") ?? []).filter {
                $0.hasPrefix("step-")
            }
            #expect(kept.sorted() == ["step-0000004.h5", "step-0000006.h5"], "\(run)")
        }
    }

    /// A run that was ended between writing its state and keeping it keeps it when it is resumed.
    @Test func aCheckpointThatWasNotKeptIsKeptLater() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let configuration = try scratch.configuration("save_every=2", "keep_last=2", "steps=6")
        #expect(try TrainingRun(configuration).run(until: 4) == .finished)
        try FileManager.default.removeItem(
            atPath: "\(configuration.output)/step-0000004.h5")
        #expect(try TrainingRun(configuration, from: .resumed).run() == .finished)
        let kept = (entries(of: configuration.output) ?? []).filter { $0.hasPrefix("step-") }
        #expect(kept.sorted() == ["step-0000004.h5", "step-0000006.h5"])
    }

    /// A record after a resume has the mean over the same steps.
    @Test func meansCountOn() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(5)
        let configuration = try scratch.configuration(
            "log_every=4", "steps=8", "validate_every=100")
        try runs(scratch, configuration) { event in
            if case .step(let step, _) = event { step == 3 } else { false }
        }
        let whole = try records(scratch, "whole")
        #expect(whole.filter { $0.kind == "train" }.map(\.step) == [4, 8])
        #expect(try records(scratch, "parts") == whole)
    }

    @Test func aFolderHasOneRunAtATime() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration("steps=3")
        let second = try TrainingRun(configuration)
        var problems: [FileError?] = []
        let first = try TrainingRun(configuration) { event in
            guard case .step(2, _) = event else { return }
            problems.append(#expect(throws: FileError.self) { try second.run() })
            problems.append(
                #expect(throws: FileError.self) {
                    try TrainingRun(configuration, from: .resumed)
                })
        }
        #expect(try first.run() == .finished)
        #expect(problems.count == 2)
        for problem in problems {
            #expect(problem?.reason == "it is in use by process \(getpid())")
        }
        // The lock ends with the run; a run that was prepared before it does not replace it.
        let late = #expect(throws: TrainingError.self) { try second.run() }
        #expect(late?.kind == .runExists)
        #expect(try TrainingRun(configuration, from: .resumed).run() == .finished)
        #expect(!FileManager.default.fileExists(atPath: "\(scratch.path)/run/.lock"))
    }

    /// A lock file that a killed process left behind locks nothing.
    @Test func aStaleLockIsTaken() throws {
        let scratch = try TemporaryFolder()
        try Data("1\n".utf8).write(to: URL(filePath: scratch.path(".lock")))
        let lock = try FolderLock(scratch.path)
        let text = try String(contentsOfFile: scratch.path(".lock"), encoding: .utf8)
        #expect(text == "\(getpid())\n")
        withExtendedLifetime(lock) {}
    }

    @Test func onlyItsOwnStepsAreRemoved() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let folder = "\(scratch.path)/run"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let others = ["step-mine.h5", "step-1.h5", "step-00000x1.h5"]
        for name in others {
            try Data("mine".utf8).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        let configuration = try scratch.configuration("save_every=1", "keep_last=2")
        #expect(try TrainingRun(configuration).run() == .finished)
        let kept = (entries(of: folder) ?? []).filter { $0.hasPrefix("step-") }
        #expect(Set(kept) == Set(others + ["step-0000005.h5", "step-0000006.h5"]))
    }

    @Test func otherPhotosAreNoticed() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration("steps=2")
        #expect(try TrainingRun(configuration).run() == .finished)
        func notes() throws -> [String] {
            var notes: [String] = []
            _ = try TrainingRun(configuration, from: .resumed) {
                if case .note(let text) = $0 { notes.append(text) }
            }
            // Nothing is left to do, either.
            return notes.filter { !$0.hasPrefix("the run has taken 2 steps already") }
        }
        #expect(try notes().isEmpty)
        // One byte at the end of a file, whose name and size stay.
        let photo = try #require(try PhotoReference.list("\(scratch.path)/photos").first)
        var bytes = try readFile("\(photo)")
        bytes[bytes.count - 1] ^= 1
        try AtomicFile.write(bytes, to: "\(photo)")
        #expect(try notes().contains { $0.hasPrefix("the photos have changed") })
        bytes[bytes.count - 1] ^= 1
        try AtomicFile.write(bytes, to: "\(photo)")
        #expect(try notes().isEmpty)
        try scratch.addPhotos(5)
        #expect(try notes().contains { $0.hasPrefix("the photos have changed") })
    }

    /// Numbers near the largest ones are refused where they are read, and trap nowhere.
    @Test(arguments: [
        #"{"step":9223372036854775807,"configuration":""}"#, #"{"step":-1,"configuration":""}"#,
        #"{"step":1,"validations_since_best":9223372036854775807,"configuration":""}"#,
        #"{"step":1,"consecutive_skips":-5,"configuration":""}"#, #"{"step":1}"#, "[]", "",
    ])
    func absurdStatesAreRefused(_ json: String) {
        #expect(TrainingProgress(json: json) == nil)
    }

    @Test func countsOfBatchesDoNotOverflow() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration("steps=2")
        #expect(try TrainingRun(configuration).run() == .finished)
        let last = "\(scratch.path)/run/last.h5"
        var checkpoint = try Checkpoint(contentsOf: last)
        let name = try #require(
            checkpoint.state.names.first { $0.hasSuffix("batches_tracked") })
        checkpoint.state[name] = StoredTensor(integer: .max)
        try checkpoint.write(to: last)
        var longer = configuration
        longer.steps = 3
        #expect(try TrainingRun(longer, from: .resumed).run() == .finished)
        #expect(try Checkpoint(contentsOf: last).state[name]?.integers == [.max])
    }
}
