import ArgumentParser
import Retint

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Report whether a model is fast enough for video, and where its time goes.",
        discussion: """
            Measures the start from a cold and a warm page cache, many predictions one after the \
            other, each operation, and the memory; simulates a live source of a given rate from \
            the measured durations; and lists the operations that, by rules, do not run on the \
            Neural Engine. A colorizer predicts a and b from lightness; any other model runs on \
            random values. --video also measures reading, resizing and \
            painting frames. Prints a table, or writes a page \
            with plots (-o). Run it on an idle machine.
            """)

    @Argument(
        help: "A checkpoint, a package or an ONNX file.", completion: .model,
        transform: modelPath)
    var model: String

    @Option(
        help: ArgumentHelp(
            "Compare with this model; the two alternate in every measurement.",
            valueName: "model"), completion: .model, transform: modelPath)
    var against: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write an HTML page instead of a table.", valueName: "page.html"),
        completion: .page)
    var output: String?

    @Option(help: "The side of the network's square input, in pixels.")
    var size: Int?

    @Option(help: "Number of threads; default: all processors.")
    var threads: Int?

    @Option(
        help: """
            How long each model predicts, in seconds; default: \
            \(Format.fixed(PerformanceOptions().seconds, 0)).
            """)
    var seconds: Double?

    @Option(help: "The number of predictions of each model, instead of --seconds.")
    var runs: Int?

    @Option(help: "Frames per second of the live source.")
    var fps = PerformanceOptions().fps

    @Option(
        name: [.long, .customLong("film")],
        help: """
            Also color the first frames of this video, for as long as the predictions take, and \
            measure the speed and the share of each stage.
            """, completion: .video)
    var video: String?

    @OptionGroup var memory: MemoryOptions

    @OptionGroup var device: DeviceOption

    @Flag(help: "Print one JSON object, with every duration and every operation.")
    var json = false

    @OptionGroup var helpOptions: HelpOptions

    func validate() throws {
        try checkName(output, "--output", "html", "htm")
        guard seconds == nil || runs == nil else {
            throw ValidationError("give either --seconds or --runs")
        }
    }

    func run() async throws {
        let claim = try output.map {
            try OutputClaim($0, inputs: [model, against, video].compactMap { $0 })
        }
        defer { claim?.end() }
        let report = try await PerformanceReport(
            of: model, against: against, options, onProgress: PerformanceDisplay().show)
        if let warning = report.warning { Console.warn(warning) }
        if let output {
            try PerformancePage(report).write(to: output)
            if !json { for line in report.headlines { Console.print(line) } }
        } else if !json {
            for line in report.lines { Console.print(line) }
        }
        if json { try Console.printJSON(report) }
    }

    private var options: PerformanceOptions {
        var options = PerformanceOptions()
        (options.size, options.runs, options.fps) = (size, runs, fps)
        options.seconds = seconds ?? options.seconds
        options.video = video
        options.execution = memory.fastExecution
        options.execution.threads = threads
        options.execution.device = device.value
        return options
    }
}

/// Shows the progress of a measurement.
private final class PerformanceDisplay: Sendable {
    private let steps = StepDisplay()

    func show(_ progress: PerformanceReport.Progress) {
        switch progress {
        case .started(let rounds, let total):
            steps.update("start", rounds, of: total, unit: "rounds")
        case .predicted(let turns, let total):
            steps.update("predict", turns, of: total, unit: "turns")
        case .profiled(let rounds, let total):
            steps.update("profile", rounds, of: total, unit: "rounds")
        case .coloredVideo(let models, let total):
            steps.update("video", models, of: total, unit: "models")
        }
    }
}
