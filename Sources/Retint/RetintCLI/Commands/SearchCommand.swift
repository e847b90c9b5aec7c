import ArgumentParser
import Foundation
import Retint

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Train several networks under one budget and compare them.",
        discussion: """
            Successive halving: all candidates train for a few steps, the better half for twice as \
            many, and so on; the last round trains to the end. Each keeps its run in its own \
            folder. The report shows quality against latency and size. When started by mpirun or \
            srun, all ranks split the candidates of a round.

            retint search --config base.yaml -o Runs/search \\
                --candidate architecture=pico-unet \\
                --candidate architecture=mobile-unet width=0.5 \\
                --candidate architecture=rep-unet depth=0.5
            """)

    @Option(
        help: ArgumentHelp("The YAML file that all candidates share.", valueName: "file"),
        completion: .yaml)
    var config: String

    @Option(
        name: .customLong("set"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "Values for all candidates that override those of the file.", valueName: "key=value"))
    var commonSettings: [String] = []

    @Option(
        name: .customLong(Self.candidateName), parsing: .singleValue,
        help: ArgumentHelp(
            "The values of one candidate; repeat `--candidate` for each.",
            valueName: "key=value"))
    var candidates: [String] = []

    @Option(
        name: .shortAndLong, help: "The folder for the runs and report.html.",
        completion: .directory)
    var output: String

    @Option(help: "Steps of the candidates in the last round; default: the file's.")
    var steps: Int?

    @Option(help: "The largest number of rounds.")
    var rounds = 3

    @Option(help: "The image size that latency is measured at.")
    var size = 256

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard candidates.count > 1 else {
            throw ValidationError("name two candidates or more, each with --candidate")
        }
        guard rounds > 0, size > 0, steps ?? 1 > 0 else {
            throw ValidationError("--rounds, --size and --steps must be at least 1")
        }
    }

    func run() async throws {
        let ranks = try joinRanks()
        let candidates = try self.candidates.map { try candidate(Self.settings(inArgument: $0)) }
        let place = CommandPlace()
        let report = try await Interruption.cancelling {
            try await ArchitectureSearchReport(
                searching: candidates, output: output, rounds: rounds, imageSize: size, ranks: ranks
            ) {
                candidate, step in
                place.run { Console.note("\(candidate): training up to step \(step)") }
            }
        }
        if ranks.rank == 0 {
            try report.writePage(
                to: "\(output)/report.html", environment: environment("arithmetic: float32"))
        }
        if json { try Console.printJSON(report) } else { print(report) }
        for one in report.diverged { Console.warn("\(one.candidate) diverged: \(one.problem)") }
        if Interruption.isRequested || Task.isCancelled { throw ExitStatus.interrupted.exit }
    }

    private func candidate(_ settings: [String]) throws -> SearchCandidate {
        var configuration = try TrainingConfiguration(
            contentsOf: config, settings: commonSettings + settings)
        if let steps { configuration.steps = steps }
        return SearchCandidate(settings: settings, configuration: configuration)
    }

    private func print(_ report: ArchitectureSearchReport) {
        let (header, rows) = report.table
        var table = TextTable(header: header, rightAligned: Set(1..<header.count))
        for row in rows { table.append(row) }
        for line in table.lines { Console.print(line) }
    }
}

// MARK: The settings of one candidate as one argument

extension SearchCommand {
    private static let candidateName = "candidate"
    /// No argument of a process contains it.
    private static let separator = "\0"

    /// `--candidate a=1 b=2` as one argument: the parser would join the values of all candidates.
    ///
    /// - Parameter arguments: those of any command, without the program's name.
    static func joiningCandidates(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName else { return arguments }
        let flag = "--\(candidateName)"
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        var joined: [String] = []
        var isOfCandidate = false
        for argument in arguments[..<end] {
            if isOfCandidate, !argument.hasPrefix("-") {
                let last = joined.removeLast()
                joined.append("\(last)\(last == flag ? "=" : separator)\(argument)")
            } else {
                isOfCandidate = argument == flag || argument.hasPrefix(flag + "=")
                joined.append(argument)
            }
        }
        return joined + arguments[end...]
    }

    private static func settings(inArgument argument: String) -> [String] {
        argument.components(separatedBy: separator)
    }
}
