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
        name: .customLong("candidate"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "The values of one candidate; repeat `--candidate` for each.",
            valueName: "key=value"))
    var settings: [String] = []

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
        guard candidateSettings.count > 1 else {
            throw ValidationError("name two candidates or more, each with --candidate")
        }
        guard rounds > 0, size > 0, steps ?? 1 > 0 else {
            throw ValidationError("--rounds, --size and --steps must be at least 1")
        }
    }

    /// The settings of each candidate. The parser joins the settings of all, so a new candidate
    /// begins with an architecture, or where a key is repeated.
    private var candidateSettings: [[String]] {
        var candidates: [[String]] = []
        for setting in settings {
            let key = setting.prefix { $0 != "=" }
            let isNew =
                key == "architecture"
                || (candidates.last?.contains { $0.hasPrefix(key + "=") } ?? true)
            if isNew {
                candidates.append([setting])
            } else {
                candidates[candidates.count - 1].append(setting)
            }
        }
        return candidates
    }

    func run() async throws {
        let ranks = try joinRanks()
        let candidates = try candidateSettings.map(candidate)
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
