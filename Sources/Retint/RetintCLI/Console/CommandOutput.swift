import ArgumentParser
import Retint
import Synchronization

/// What a command prints, if a program runs it in its own process: see ``run(_:)``.
public final class CommandOutput: Sendable {
    private struct State {
        var results = ""
        var messages: [String] = []
    }

    private let state = Mutex(State())

    /// That of the command that the current task runs; nil in the program `retint`.
    @TaskLocal static var current: CommandOutput?

    /// Creates an empty output.
    public init() {}

    /// What the command printed to standard output so far.
    public var results: String { state.withLock(\.results) }

    /// The lines of messages and progress since the last call.
    public func takeMessages() -> [String] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    func add(results: String) { state.withLock { $0.results += results } }

    /// Messages that nobody takes do not fill the memory.
    private static let mostMessages = 10_000

    func add(message: String) {
        state.withLock { state in
            if state.messages.count >= Self.mostMessages { state.messages.removeFirst() }
            state.messages.append(message)
        }
    }
}

/// Where a command prints: taken by its own task, for messages that other threads print for it.
struct CommandPlace: Sendable {
    private let output = CommandOutput.current

    /// Runs a part of the command that prints.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let output else { return try body() }
        return try CommandOutput.$current.withValue(output, operation: body)
    }
}

/// The parts of a refusal, whatever its kind.
private protocol RefusalParts {
    var file: String { get }
    var place: String { get }
    var remedy: String { get }
}

extension Refusal: RefusalParts {}

/// Why a command failed.
public struct CommandFailure: Sendable {
    /// The exit code that the program would have.
    public let status: Int32
    /// The message that it would print; empty if it has printed one already.
    public let message: String
    /// The file and the place in it; empty if there are none.
    public let file, place: String
    /// What can be done about it; empty if the message says it all.
    public let remedy: String
}

extension CommandOutput {
    /// Runs a command as the program `retint` does, but in this process: nothing is printed, no
    /// signal is handled, and nothing ends the process. Cancelling the task has the effect of
    /// Ctrl-C.
    ///
    /// - Parameter arguments: without the program's name: `["inspect", "model.h5", "--json"]`.
    /// - Returns: nil if the exit code would be 0.
    public func run(_ arguments: [String]) async -> CommandFailure? {
        Console.isEmbedded.store(true, ordering: .relaxed)
        do {
            try await Self.$current.withValue(self) { try await RetintCommand.run(arguments) }
            return nil
        } catch {
            return failure(error)
        }
    }

    /// - Returns: nil if the error is a request, such as that for help, which is a result.
    private func failure(_ error: any Error) -> CommandFailure? {
        guard !(error is ExitCode), RetintCommand.exitCode(for: error).rawValue == 0 else {
            return CommandFailure(of: error)
        }
        add(results: RetintCommand.fullMessage(for: error) + "\n")
        return nil
    }

    /// A value as commands print it with `--json`.
    public static func json(_ value: some Encodable) throws -> String { try Console.json(value) }
}

extension CommandFailure {
    /// How the program would end with an error.
    public init(of error: any Error) {
        let parts = error as? any RefusalParts
        (file, place, remedy) = (parts?.file ?? "", parts?.place ?? "", parts?.remedy ?? "")
        if let own = error as? any RetintError {
            (status, message) = (
                ExitStatus(own.fault).rawValue, RetintCLI.message(for: own).escapedForTerminal
            )
        } else if let code = error as? ExitCode {
            (status, message) = (code.rawValue, "")
        } else if error is CancellationError {
            (status, message) = (ExitStatus.interrupted.rawValue, "")
        } else if RetintCommand.exitCode(for: error).rawValue == ExitStatus.wrongUsage.rawValue {
            (status, message) = (
                ExitStatus.wrongUsage.rawValue, RetintCommand.message(for: error)
            )
        } else {
            (status, message) = (ExitStatus.failed.rawValue, "\(error)")
        }
    }
}
