import Foundation
import Retint
import RetintCommandSupport
import RetintTestSupport
import Testing

/// libhdf5 runs in child processes of `retint`: one that forks, and one for each file.
@Suite(.sampled()) struct IsolationTests {
    private let folder: TemporaryFolder
    private let weights: String

    /// A file whose datasets take a while to be listed.
    init() throws {
        folder = try TemporaryFolder()
        weights = folder.path("weights.h5")
        let writer = try HDF5Writer(path: weights)
        for index in 0..<20_000 {
            try writer.write(StoredTensor(integer: Int64(index)), to: "tensor\(index)")
        }
        try writer.finish()
    }

    @Test func killedReaderIsAnError() throws {
        var noticed = 0
        for attempt in 0..<10 {
            let process = try start(
                ["import", weights, "--architecture", "pico-unet", "-o", folder.path("out.h5")])
            let reader = try #require(readerProcess(of: process))
            Thread.sleep(forTimeInterval: Double.random(in: 0...0.1))
            // Every other time the process that forked it, too.
            if attempt % 2 == 1 { kill(try #require(children(of: process.identifier).first), 9) }
            kill(reader, 9)
            let result = try process.wait(limit: 20)
            // The weights are not the network's, should all have been read before.
            #expect(result.code == 65 && !result.isSignaled, "\(result.messages)")
            #expect(result.messages.contains("\(weights): "))
            noticed += result.messages.contains("was killed") ? 1 : 0
            #expect(!FileManager.default.fileExists(atPath: folder.path("out.h5")))
        }
        #expect(noticed > 5)
    }

    @Test(
        .enabled(if: !isSanitized, "sanitizers answer signals themselves, or delay them"),
        arguments: [(SIGSEGV, "crashed on it (signal 11)"), (SIGXCPU, "within 8 s")])
    func crashOfReaderIsAnError(signal: Int32, phrase: String) throws {
        // A reader that has just answered its last question ends without a loss.
        var result: ProcessResult?
        for _ in 0..<10 where result == nil {
            let process = try start()
            let reader = try #require(readerProcess(of: process))
            // A process that has just been forked does not report signals yet.
            for _ in 0..<2000 where !catches(signal, reader) {
                Thread.sleep(forTimeInterval: 0.001)
            }
            kill(reader, signal)
            let ended = try process.wait(limit: 20)
            if ended.code != 0 { result = ended }
        }
        #expect(result?.code == 65 && result?.isSignaled == false)
        #expect(result?.messages.contains(phrase) == true, "\(result?.messages ?? "")")
    }

    /// Ctrl-C reaches all processes of a terminal.
    @Test func signalsForTheCommandLeaveReadersAlone() throws {
        let process = try start()
        let reader = try #require(readerProcess(of: process))
        let forker = try #require(children(of: process.identifier).first)
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            kill(reader, signal)
            kill(forker, signal)
        }
        let result = try process.wait(limit: 60)
        #expect(result.code == 0, "\(result.messages)")
    }

    @Test func nothingOutlivesTheCommand() throws {
        let process = try start()
        let reader = try #require(readerProcess(of: process))
        let forker = try #require(children(of: process.identifier).first)
        kill(process.identifier, SIGKILL)
        _ = try process.wait(limit: 20)
        for _ in 0..<200 where [reader, forker].contains(where: isRunning) {
            Thread.sleep(forTimeInterval: 0.05)
        }
        #expect(!isRunning(reader) && !isRunning(forker))
    }

    private func start(_ arguments: [String]? = nil) throws -> RunningProcess {
        try RunningProcess(builtProgram("retint"), arguments ?? ["inspect", weights])
    }

    /// The process that reads, once it is there.
    private func readerProcess(of process: RunningProcess) -> Int32? {
        for _ in 0..<2000 where process.isRunning {
            let forker = children(of: process.identifier).first
            if let reader = forker.flatMap({ children(of: $0).first }) { return reader }
            Thread.sleep(forTimeInterval: 0.002)
        }
        return nil
    }

    private func children(of process: Int32) -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.filter { parent(of: $0) == process }
    }

    /// After the name in parentheses come the state and the parent.
    private func parent(of process: Int32) -> Int32? {
        let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let fields = text?.components(separatedBy: ") ").last?.split(separator: " ") ?? []
        return fields.count > 1 ? Int32(fields[1]) : nil
    }

    private func catches(_ signal: Int32, _ process: Int32) -> Bool {
        let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
        let mask = line.flatMap { UInt64($0.dropFirst(7).drop { $0 == "\t" }, radix: 16) } ?? 0
        return mask & 1 << UInt64(signal - 1) != 0
    }

    private func isRunning(_ process: Int32) -> Bool {
        // One that nobody has waited for yet has ended, too.
        let path = "/proc/\(process)/stat"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        return !text.contains(") Z ")
    }
}
