import ArgumentParser
import Foundation
import Retint
import Synchronization

/// Writes results to standard output, messages and progress to standard error.
enum Console {
    private static let isSilent = Atomic<Bool>(false)

    /// Whether commands run in the process of another program, whose streams are not ours.
    static let isEmbedded = Atomic<Bool>(false)

    /// Opens /dev/null in place of standard streams that are closed, such that using them still
    /// fails: the next file or socket would be one of them otherwise, and results be written to it.
    static func reserveStandardStreams() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Ends the process if an argument is not UTF-8: it would name another file than the one meant.
    static func requireReadableArguments() {
        for index in 0..<Int(CommandLine.argc) {
            guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil
            else { continue }
            let text = String(cString: bytes).debugDescription
            fail("argument \(text) is not UTF-8; rename the file that it names", .wrongUsage)
        }
    }

    /// Suppresses all output except the error that ends the process: another rank prints it.
    static func fallSilent() { isSilent.store(true, ordering: .relaxed) }

    /// The system's error number of a failed write of results, else 0.
    private static let failure = Mutex<Int32>(0)

    /// Prints a line of results. Line breaks in it, for example in a file's name, cannot start a
    /// line that looks like another result.
    static func print(_ line: String) { printLines(line.withIndentedLines) }

    /// Prints several lines of results.
    static func printLines(_ text: String) {
        if let output = CommandOutput.current { return output.add(results: text + "\n") }
        let number = write(text.escapedForTerminal + "\n", to: STDOUT_FILENO)
        if number != 0 { failure.withLock { $0 = number } }
    }

    /// Prints a message.
    static func note(_ message: String) {
        if let output = CommandOutput.current { return output.add(message: message.asMessage) }
        draw("retint: \(message.asMessage)\n")
    }

    /// Writes text to standard error, without a line break.
    static func draw(_ text: String) {
        _ = write(text, to: STDERR_FILENO)
    }

    /// Returns the system's error number, or 0 on success.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        if isSilent.load(ordering: .relaxed) || isEmbedded.load(ordering: .relaxed) { return 0 }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, Array(rest), rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    static func warn(_ message: String) {
        note("warning: \(message)")
    }

    /// Whether standard error is a terminal.
    static var isTerminal: Bool {
        !isEmbedded.load(ordering: .relaxed) && isatty(STDERR_FILENO) == 1
    }

    /// The width of the terminal in columns.
    static var columns: Int {
        var size = winsize()
        let status = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size)
        return status == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// Throws if results could not be written, for example to a full disk.
    static func checkResults() throws {
        let number = failure.withLock { $0 }
        guard number == 0 else {
            let reason = String(cString: strerror(number))
            throw CommandError(.failure, "cannot write the results: \(reason)")
        }
    }

    /// Prints the error, unless a command has already printed it, and ends the process.
    static func exit(for error: any Error) -> Never {
        if let code = error as? ExitCode {
            try? Communicator.current.finish()
            Foundation.exit(code.rawValue)
        }
        let parserCode = RetintCommand.exitCode(for: error).rawValue
        if parserCode == 0 {
            printLines(RetintCommand.fullMessage(for: error))
            Foundation.exit(failure.withLock { $0 } == 0 ? 0 : ExitStatus.failed.rawValue)
        }
        if isUsageError(error, parserCode) {
            let message = RetintCommand.fullMessage(for: error)
            let bare = message.hasPrefix("Error: ") ? String(message.dropFirst(7)) : message
            let arguments = Array(CommandLine.arguments.dropFirst())
            fail(UnknownOption.message(in: arguments) ?? bare, .wrongUsage)
        }
        fail(message(for: error), ExitStatus(for: error) ?? .failed)
    }

    /// Ends this process and all other ranks.
    private static func fail(_ message: String, _ status: ExitStatus) -> Never {
        let ranks = Communicator.current
        guard ranks.size > 1 else {
            note("error: \(message)")
            Foundation.exit(status.rawValue)
        }
        // Usually, all fail for the same reason: rank 0 prints it, and ends the others meanwhile.
        if ranks.rank > 0 { usleep(1_000_000) }
        isSilent.store(false, ordering: .relaxed)
        note("error: rank \(ranks.rank): \(message)")
        ranks.abort(status.rawValue)
    }

    private static func isUsageError(_ error: any Error, _ parserCode: Int32) -> Bool {
        parserCode == ExitStatus.wrongUsage.rawValue && ExitStatus(for: error) == nil
    }
}
