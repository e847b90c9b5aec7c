import ArgumentParser
import Foundation
import Synchronization

/// Where a command's words go: results to standard output, all else to standard error.
package enum Console {
    /// The system's error number when results could not be written, else 0.
    private static let failure = Mutex<Int32>(0)

    /// Prints a line of results.
    package static func print(_ line: String) {
        let number = write(line + "\n", to: STDOUT_FILENO)
        if number != 0 { failure.withLock { $0 = number } }
    }

    /// Prints a message.
    package static func note(_ message: String) {
        draw("retint: \(message)\n")
    }

    /// Puts text on standard error as it is.
    static func draw(_ text: String) {
        _ = write(text, to: STDERR_FILENO)
    }

    /// Returns an error number, 0 if all went well.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, Array(rest), rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    package static func warn(_ message: String) {
        note("warning: \(message)")
    }

    /// Whether someone watches standard error.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The width of the terminal in columns.
    static var columns: Int {
        var size = winsize()
        let status = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size)
        return status == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// Throws if results could not be written, to a full disk for one.
    package static func checkResults() throws {
        let number = failure.withLock { $0 }
        guard number == 0 else {
            let reason = String(cString: strerror(number))
            throw CommandError(.failed, "the results cannot be written: \(reason)")
        }
    }

    /// Says what went wrong, if that has not been said, and ends the process.
    static func exit(for error: any Error) -> Never {
        if let code = error as? ExitCode { Foundation.exit(code.rawValue) }
        let parserCode = RetintCommand.exitCode(for: error).rawValue
        if parserCode == 0 {
            print(RetintCommand.fullMessage(for: error))
            Foundation.exit(failure.withLock { $0 } == 0 ? 0 : Outcome.failed.rawValue)
        }
        if isUsageError(error, parserCode) {
            let message = RetintCommand.fullMessage(for: error)
            let bare = message.hasPrefix("Error: ") ? String(message.dropFirst(7)) : message
            note("error: \(bare)")
            Foundation.exit(Outcome.wrongUsage.rawValue)
        }
        note("error: \(message(for: error))")
        Foundation.exit((error as? any OutcomeError)?.outcome.rawValue ?? Outcome.failed.rawValue)
    }

    private static func isUsageError(_ error: any Error, _ parserCode: Int32) -> Bool {
        parserCode == Outcome.wrongUsage.rawValue && !(error is any OutcomeError)
    }
}
