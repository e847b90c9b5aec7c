import Foundation
import RetintCheckpoints
import RetintImages
import RetintTestSupport
import Testing

/// `mpirun retint train`.
@Suite(
    .sampled(),
    .serialized,
    .enabled(if: Launcher.isUsable, "no MPI here: run Scripts/setup --mpi to test with it"))
struct TrainRanksTests {
    private let scratch: TemporaryFolder
    private let config: String

    init() throws {
        scratch = try TemporaryFolder()
        config = scratch.path("run.yaml")
        let photos = scratch.path("photos")
        try FileManager.default.createDirectory(
            atPath: photos, withIntermediateDirectories: true)
        for number in 0..<9 {
            try Image(width: 40, height: 48, red: UInt8(25 * number), green: 90, blue: 20)
                .write(to: "\(photos)/\(number).png")
        }
        let yaml = """
            width: 0.25
            batch: 8
            threads: 1
            steps: 6
            log_every: 2
            validate_every: 3
            save_every: 3
            data: {train: "\(photos)", crop: 32}
            """
        try Data(yaml.utf8).write(to: URL(filePath: config))
    }

    private func start(_ ranks: Int, _ output: String, _ arguments: String...) throws
        -> RunningProcess
    {
        try Launcher.start(
            ranks, "retint",
            ["train", "--config", config, "--output", scratch.path(output)] + arguments)
    }

    private func last(_ output: String) throws -> Checkpoint {
        try Checkpoint(contentsOf: scratch.path("\(output)/last.h5"))
    }

    @Test func twoRanksWriteOneRunTwiceTheSame() throws {
        for output in ["first", "second"] {
            let result = try start(2, output).wait(limit: 60)
            #expect(result.code == 0, "\(result.messages)")
            #expect(
                result.output
                    == "\(scratch.path(output)): done; the weights are in last.h5 and best.h5\n")
            #expect(result.messages.contains("with 2 ranks"))
        }
        let (first, second) = (try last("first"), try last("second"))
        #expect(first.state == second.state && first.optimizer == second.optimizer)
        let metrics = try String(
            contentsOfFile: scratch.path("first/metrics.jsonl"), encoding: .utf8)
        #expect(metrics.split(separator: "\n").count == 5, "3 of training, 2 of validation")
        #expect(metrics.contains("\"communication_shares\":["))
    }

    /// Waits for a line of metrics.
    private func waitForSteps(_ process: RunningProcess, _ output: String) throws {
        let deadline = Date.now + 60
        let metrics = scratch.path("\(output)/metrics.jsonl")
        while (FileManager.default.contents(atPath: metrics) ?? Data()).isEmpty {
            try #require(process.isRunning && Date.now < deadline, "no step was taken")
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    @Test func aSignalToOneRankSavesAllAndAnotherNumberGoesOn() throws {
        let process = try start(4, "run", "--auto-resume", "--set", "steps=1000000", "log_every=1")
        try waitForSteps(process, "run")
        let rank = try #require(try Launcher.processes(naming: scratch.path("run"))[2])
        kill(rank, SIGUSR1)
        let result = try process.wait(limit: 60)
        #expect(result.code == 130, "\(result.messages)")
        #expect(result.messages.contains("--resume continues"))
        let again = try start(
            2, "run", "--auto-resume", "--set", "steps=1000000", "time_limit=0.001", "log_every=1"
        ).wait(limit: 60)
        #expect(again.code == 0, "\(again.messages)")
        #expect(again.messages.contains("from step "))
    }

    @Test func aKilledRankEndsTheJob() throws {
        let process = try start(2, "run", "--set", "steps=1000000", "log_every=1", "save_every=1")
        try waitForSteps(process, "run")
        while !FileManager.default.fileExists(atPath: scratch.path("run/last.h5")) {
            try #require(process.isRunning, "nothing was saved")
            Thread.sleep(forTimeInterval: 0.02)
        }
        let rank = try #require(try Launcher.processes(naming: scratch.path("run"))[1])
        let start = Date.now
        kill(rank, SIGKILL)
        let result = try process.wait(limit: 30)
        #expect(Date.now.timeIntervalSince(start) < 10)
        #expect(result.code != 0)
        #expect(result.messages.contains("rank 1"), "\(result.messages)")
        #expect(try last("run").training != nil, "there is a state to go on from")
    }

    @Test func anErrorOfAllIsSaidOnce() throws {
        let result = try start(3, "run", "--set", "batch=2").wait(limit: 60)
        #expect(result.code == 65, "\(result.messages)")
        let said = result.messages.components(separatedBy: "retint: error: ").count - 1
        #expect(said == 1 && result.messages.contains("rank 0: batch: is 2"), "\(result.messages)")
    }
}
