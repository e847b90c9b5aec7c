import ArgumentParser
import Foundation
import Retint

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run a saved verification again, and say what differs.",
        discussion: """
            The results that retint verify --save has written name every file that was read, with \
            its SHA-256. If a file has other bytes, it is named, and nothing runs. Otherwise, \
            the verification runs again on the same number of threads. With the same version of \
            retint, processor, kernels and number of threads, every figure must have the same \
            bits; elsewhere, the verdict must be the same, and figures that differ are listed.

            Exit code 0: the same; 2: a file, the verdict or, in the same environment, a figure \
            differs; 65: the results are damaged or have no record of files, or a file is not \
            there.

            For example:
              retint verify Colorizer.mlpackage --against best.h5 --save results.json
              retint replay results.json
            """)

    @Argument(
        help: ArgumentHelp(
            "Results that retint verify --save has written.", valueName: "results.json"),
        completion: .file(extensions: ["json"]))
    var results: String

    @Option(
        help: ArgumentHelp(
            """
            The folder to which the names of files in the results are relative, if they have \
            moved; default: the folder of the results.
            """, valueName: "dir"), completion: .directory)
    var folder: String?

    @Option(help: "The number of threads; default: that of the saved run.")
    var threads: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try check(threads, "--threads", Execution.threadRange)
        let saved = try VerificationResults(contentsOf: results)
        let record = try saved.intactRecord(in: results)
        var command = try verification(of: record)
        command.threads = threads ?? saved.environment.threads
        let report = try await report(command, saved, record)
        if json {
            try Console.printJSON(report.summary)
        } else {
            for line in report.lines(of: results) { Console.print(line) }
        }
        guard report.isSame else { throw ExitStatus.toleranceExceeded.exit }
    }

    private func report(
        _ command: VerifyCommand, _ saved: VerificationResults, _ record: VerificationRecord
    ) async throws -> ReplayReport {
        try checkPresence(of: record)
        let found = try command.record(namedFrom: root)
        let changes = record.changes(to: found)
        guard changes.isEmpty else {
            return ReplayReport(files: changes, saved: saved, on: command.environment)
        }
        return try ReplayReport(saved: saved, found: try await measured(command))
    }

    /// Runs the verification; what it writes is removed.
    private func measured(_ command: VerifyCommand) async throws -> VerificationResults {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "retint-replay-\(UUID().uuidString)")
        var command = command
        command.confine(to: folder.path)
        guard !command.diagnosis.files.isEmpty else { return try await command.measured() }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await command.measured()
    }
}

// MARK: Files

extension ReplayCommand {
    /// The folder to which names are relative.
    private var root: String { folder ?? VerificationRecord.folder(of: results) }

    private func place(of name: String) -> String {
        VerificationRecord.path(of: name, from: root)
    }

    private func verification(of record: VerificationRecord) throws -> VerifyCommand {
        let arguments = record.arguments
        do {
            guard let model = arguments.last, arguments.dropLast().last == "--" else {
                throw ValidationError("there is no model")
            }
            // The model's own place: whether it is one depends on the file.
            var command = try VerifyCommand.parse(arguments.dropLast() + [place(of: model)])
            command.model = model
            command.mapPaths(place)
            return command
        } catch {
            throw CommandError(
                .input, file: results, place: "predicate.arguments",
                rule: "are not those of a verification: \(VerifyCommand.message(for: error))",
                remedy: "name results that retint verify --save has written")
        }
    }

    private func checkPresence(of record: VerificationRecord) throws {
        let manager = FileManager.default
        for name in (record.subject + record.inputs).map(\.name)
        where !manager.fileExists(atPath: place(of: name)) {
            throw CommandError(
                .input, file: results, place: name, rule: "is no longer in \(root)",
                remedy: "put the file there, or name the folder with the files (--folder)")
        }
    }
}
