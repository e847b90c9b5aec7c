import ArgumentParser
import Dispatch
import Foundation
import Retint

/// Runs `retint` with the arguments of the process, and exits with a status if it fails.
///
/// A program that first calls `ColorizerArchitecture.register()` has an additional architecture.
@MainActor public func runRetint() async {
    prepareProcess()
    await RetintCommand.main()
}

/// As ``runRetint()``, for a caller that is not asynchronous: ends the process.
@MainActor public func runRetintAndExit() -> Never {
    prepareProcess()
    Task { @MainActor in
        await RetintCommand.main()
        exit(ExitStatus.done.rawValue)
    }
    dispatchMain()
}

private func prepareProcess() {
    Console.reserveStandardStreams()
    Console.requireReadableArguments()
    // Before there are threads.
    if !HDF5Isolation.start() {
        Console.warn("cannot start a child process; libhdf5 reads files in this one")
    }
}

/// The root command; each subcommand is a file in Commands.
struct RetintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retint",
        abstract: "Retrains, converts, verifies and quantizes image colorizers.",
        discussion: """
            Results go to standard output, messages and progress to standard error.
            Exit codes: 0 done; 1 failed; 2 tolerance exceeded; 64 wrong usage; 65 bad input \
            data; 130 interrupted, state saved.
            """,
        version: retintVersion,
        subcommands: [
            AverageCommand.self,
            BenchmarkCommand.self,
            ColorizeCommand.self,
            CombineCommand.self,
            CompareCommand.self,
            DatasetCommand.self,
            DiffCommand.self,
            EvaluateCommand.self,
            ExportCommand.self,
            ImportCommand.self,
            InspectCommand.self,
            ModelsCommand.self,
            QuantizeCommand.self,
            ReplayCommand.self,
            ReportCommand.self,
            SearchCommand.self,
            TrainCommand.self,
            VerifyCommand.self,
            VideoCommand.self,
        ])

    @MainActor static func main() async {
        Interruption.refuseLargeFiles()
        do {
            try AddressSpace.requireEnough()
            Interruption.removeLeftovers()
            try await run(nil)
            try Console.checkResults()
            try Communicator.current.finish()
        } catch {
            Interruption.waitForEnd()
            Console.exit(for: error)
        }
    }

    /// Runs a command.
    ///
    /// - Parameter arguments: without the program's name; nil for those of the process.
    static func run(_ arguments: [String]?) async throws {
        let arguments = arguments ?? Array(CommandLine.arguments.dropFirst())
        try requireCommand(arguments.first { $0 != "help" })
        var command = try parseAsRoot(
            joiningNegativeNumbers(
                withPlainFiles(
                    SearchCommand.joiningCandidates(arguments)
                        .map { $0 == HelpOptions.flag ? HelpOptions.flagOfParser : $0 })))
        if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
    }

    /// `--feather -3` as `--feather=-3`: the parser would take a negative number for an option, and
    /// say that the value is missing.
    private static func joiningNegativeNumbers(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].reduce(into: []) { joined, argument in
            if isNegative(argument), let option = joined.last, option.hasPrefix("--"),
                !option.contains("=")
            {
                joined[joined.count - 1] = "\(option)=\(argument)"
            } else {
                joined.append(argument)
            }
        } + arguments[end...]
    }

    /// The file `-old.jpg` as `./-old.jpg`: the parser would read letters after a dash as options,
    /// one of which may be `-h`.
    private static func withPlainFiles(_ arguments: [String]) -> [String] {
        arguments.map { argument in
            let isFile =
                argument.count > 2 && argument.first == "-" && !argument.hasPrefix("--")
                && FileManager.default.fileExists(atPath: argument)
            return isFile ? "./\(argument)" : argument
        }
    }

    private static func isNegative(_ argument: String) -> Bool {
        guard argument.first == "-", let next = argument.dropFirst().first else { return false }
        return next == "." || "0"..."9" ~= next
    }

    /// - Parameter word: the first argument, or the one after `help`.
    /// - Throws: ``CommandError`` with the nearest names if it could be the name of a command, but
    ///   there is none.
    private static func requireCommand(_ word: String?) throws {
        guard let word, word.first?.isLetter == true else { return }
        guard configuration.subcommand(named: word) == nil else { return }
        let names = configuration.subcommands.flatMap { $0.configuration.names }
        let similar = Spelling.similar(to: word, among: names)
        let advice =
            similar.isEmpty
            ? "retint --help lists them" : "did you mean \(similar.joined(separator: ", "))?"
        throw CommandError(.usage, "there is no command \(word); \(advice)")
    }
}

extension CommandConfiguration {
    /// The name of the command, and its other names.
    fileprivate var names: [String] { [commandName].compactMap { $0 } + aliases }

    /// The subcommand with a name.
    func subcommand(named name: String) -> (any ParsableCommand.Type)? {
        subcommands.first { $0.configuration.names.contains(name) }
    }
}
