package import Foundation

/// The exit code and the output of a program that has ended.
package struct ProcessResult {
    /// The exit code, or the number of the signal that ended the program.
    package let code: Int32
    /// Everything written to standard output, unless that was redirected.
    package let output: String
    /// Everything written to standard error.
    package let messages: String
    /// Whether a signal, a trap included, ended the program.
    package let isSignaled: Bool
}

/// A program started by a test, with an empty standard input.
package final class RunningProcess {
    private let process = Process()
    private let logs: TemporaryFolder

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - folder: The program's current folder; that of the tests if nil.
    ///   - environment: Variables added to those of the tests.
    ///   - output: Where standard output goes; collected if nil.
    package init(
        _ executable: URL, _ arguments: [String], in folder: String? = nil,
        environment: [String: String] = [:], output: FileHandle? = nil
    ) throws {
        logs = try TemporaryFolder()
        process.executableURL = executable
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        process.environment = ProcessInfo.processInfo.environment
            .merging(Self.sanitizerOptions) { $1 }.merging(environment) { $1 }
        // Files rather than pipes: a full pipe would block the program.
        process.standardOutput = try output ?? Self.log(logs.path("output"))
        process.standardError = try Self.log(logs.path("messages"))
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    /// Starts a program that holds the lock of a file until it is interrupted, and waits for that.
    package convenience init(locking path: String) throws {
        let holding = ["/bin/sh", "-c", "echo locked; exec sleep 60"]
        try self.init(URL(filePath: "/usr/bin/flock"), [path] + holding)
        for _ in 0..<500 where try text("output").isEmpty { Thread.sleep(forTimeInterval: 0.01) }
        guard try text("output") == "locked\n" else { throw CocoaError(.fileLocking) }
    }

    /// A program that exits holds objects to the last: under the address sanitizer, no leaks.
    private static let sanitizerOptions = ["LSAN_OPTIONS": "detect_leaks=0"]

    /// The number of the process.
    package var identifier: Int32 { process.processIdentifier }

    package var isRunning: Bool { process.isRunning }

    /// Sends the signal of Control-C.
    package func interrupt() { process.interrupt() }

    /// Waits for the program to end.
    ///
    /// - Parameter limit: The number of seconds after which the program is killed.
    package func wait(limit: Double = .infinity) throws -> ProcessResult {
        let killing = limit.isFinite ? kill(after: limit) : nil
        process.waitUntilExit()
        killing?.cancel()
        return ProcessResult(
            code: process.terminationStatus, output: try text("output"),
            messages: try text("messages"), isSignaled: process.terminationReason != .exit)
    }

    private func kill(after seconds: Double) -> DispatchWorkItem {
        let identifier = process.processIdentifier
        let killing = DispatchWorkItem { Foundation.kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: killing)
        return killing
    }

    private func text(_ log: String) throws -> String {
        guard FileManager.default.fileExists(atPath: logs.path(log)) else { return "" }
        return String(
            decoding: try Data(contentsOf: URL(filePath: logs.path(log))), as: UTF8.self)
    }

    private static func log(_ path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return try FileHandle(forWritingTo: URL(filePath: path))
    }
}

/// Runs a program to its end. The parameters are those of ``RunningProcess``.
package func runProcess(
    _ executable: URL, _ arguments: [String], in folder: String? = nil,
    environment: [String: String] = [:], output: FileHandle? = nil
) throws -> ProcessResult {
    let process = try RunningProcess(
        executable, arguments, in: folder, environment: environment, output: output)
    return try process.wait()
}

/// A program that the package builds, in the build folder beside the test bundle.
package func builtProgram(_ name: String) -> URL {
    let arguments = ProcessInfo.processInfo.arguments
    let bundle = arguments.first { $0.contains(".xctest") } ?? arguments[0]
    var folder = URL(filePath: bundle).deletingLastPathComponent()
    while folder.path.contains(".xctest") { folder.deleteLastPathComponent() }
    return folder.appending(path: name)
}
