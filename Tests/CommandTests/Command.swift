import Foundation
import Testing

/// What a run of the built `retint` left behind.
struct CommandResult {
    let code: Int32
    let output: String
    let messages: String
}

/// The built command and a directory of its own for one test.
final class CommandBench {
    let directory: String

    init() throws {
        directory =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("retint-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// All that stands in the directory, temporary files included, by relative path.
    var files: Set<String> {
        Set((try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? [])
    }

    /// Runs `retint` in the directory.
    ///
    /// - Parameter output: where standard output goes; collected if nil.
    func run(
        _ arguments: [String], environment: [String: String] = [:], output: FileHandle? = nil
    ) throws -> CommandResult {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // Files, not pipes: what is written never waits for a reader.
        let log = Self.scratch()
        let errors = Self.scratch()
        process.standardOutput = try output ?? FileHandle(forWritingTo: log)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        defer { for url in [log, errors] { try? FileManager.default.removeItem(at: url) } }
        #expect(process.terminationReason == .exit, "\(arguments) trapped")
        return try CommandResult(
            code: process.terminationStatus,
            output: String(contentsOf: log, encoding: .utf8),
            messages: String(contentsOf: errors, encoding: .utf8))
    }

    /// Runs `retint` and expects an exit code and words on standard error.
    @discardableResult
    func expect(
        _ code: Int32, _ arguments: String..., says fragments: [String] = [],
        location: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        let result = try run(arguments)
        #expect(result.code == code, "\(result.messages)", sourceLocation: location)
        for fragment in fragments {
            #expect(
                result.messages.contains(fragment), "\(result.messages)", sourceLocation: location)
        }
        if code != 0 {
            let isSaid = result.messages.contains("retint: error: ")
            #expect(isSaid, "\(result.messages)", sourceLocation: location)
        }
        return result
    }

    private static func scratch() -> URL {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("retint-\(UUID().uuidString).log")
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        return url
    }

    /// Beside the test bundle, in the build folder.
    private static let executable: URL = {
        let arguments = ProcessInfo.processInfo.arguments
        let bundle = arguments.first { $0.contains(".xctest") } ?? arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path.contains(".xctest") { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("retint")
    }()
}
