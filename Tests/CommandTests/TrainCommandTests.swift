import Checkpoints
import Foundation
import ImageIO
import Testing

/// `retint train` as a process of its own.
@Suite(.serialized) struct TrainCommandTests {
    private static var executable: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") }
        let products =
            bundle.map { URL(filePath: $0).deletingLastPathComponent() }
            ?? URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../.build/release")
        return products.appending(path: "retint")
    }

    private let folder = URL(filePath: NSTemporaryDirectory())
        .appending(path: "retint-train-\(UUID().uuidString)")

    /// A running command, with what it says on standard error.
    private func start(_ arguments: [String]) throws -> (Process, Pipe) {
        let (process, messages) = (Process(), Pipe())
        process.executableURL = Self.executable
        process.arguments = ["train"] + arguments
        process.standardError = messages
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return (process, messages)
    }

    private func message(of arguments: [String]) throws -> (code: Int32, text: String) {
        let (process, messages) = try start(arguments)
        let text = String(
            decoding: try messages.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    private func writeRun(photos: Int) throws -> String {
        let photoFolder = folder.appending(path: "photos")
        try FileManager.default.createDirectory(
            at: photoFolder, withIntermediateDirectories: true)
        for number in 0..<photos {
            try Image(width: 40, height: 48, red: UInt8(60 * number), green: 90, blue: 20)
                .write(to: photoFolder.appending(path: "\(number).png").path)
        }
        let config = folder.appending(path: "run.yaml").path
        let yaml = """
            width: 0.25
            batch: 2
            steps: 1000000
            log_every: 1
            output: "\(folder.path)/run"
            data: {train: "\(photoFolder.path)", crop: 32}
            """
        try Data(yaml.utf8).write(to: URL(filePath: config))
        return config
    }

    @Test func controlCSavesTheRun() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let config = try writeRun(photos: 4)
        let (process, _) = try start(["--config", config])
        let metrics = folder.appending(path: "run/metrics.jsonl").path
        let deadline = Date.now + 60
        while (FileManager.default.contents(atPath: metrics) ?? Data()).isEmpty {
            try #require(process.isRunning && Date.now < deadline, "no step was taken")
            Thread.sleep(forTimeInterval: 0.02)
        }
        process.interrupt()
        // A run that does not hear it must fail the test, not hold it up for good.
        let pid = process.processIdentifier
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) { kill(pid, SIGKILL) }
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 130)
        let last = try Checkpoint(contentsOf: folder.appending(path: "run/last.h5").path)
        #expect(last.training != nil)
        let again = try message(of: [
            "--config", config, "--resume", "--set", "time_limit=0.001",
        ])
        #expect(again.code == 0, "\(again.text)")
        #expect(again.text.contains("multiply-adds") && again.text.contains("a step keeps"))
        let unasked = try message(of: ["--config", config])
        #expect(unasked.code == 64)
        #expect(unasked.text.contains("--resume"))
    }

    @Test(arguments: [
        (["optimizer.learning_rat=1"], Int32(64), "did you mean optimizer.learning_rate?"),
        (["batch=none"], 64, "a whole number from 1 to 4096"),
        ([], 65, "holds no photos"),
    ])
    func refusals(_ settings: [String], _ code: Int32, _ words: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let config = try writeRun(photos: 0)
        let result = try message(of: ["--config", config] + settings.flatMap { ["--set", $0] })
        #expect(result.code == code)
        #expect(result.text.contains(words), "\(result.text)")
    }
}
