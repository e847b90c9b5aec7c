import ArgumentParser
import Colorizers
import Foundation
import Reports
import Training

struct TrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "train",
        abstract: "Train a colorizer on a folder of photos.",
        discussion: """
            The run is kept in the output folder: config.yaml, metrics.jsonl, last.h5 to go on \
            from, best.h5 of the lowest validation loss. Ctrl-C saves last.h5 and exits with 130; \
            --resume goes on with the same bits as if it had never stopped.
            """)

    @Option(help: ArgumentHelp("The YAML file; see --defaults.", valueName: "file"))
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .upToNextOption,
        help: ArgumentHelp("Values that take precedence over the file's.", valueName: "key=value"))
    var settings: [String] = []

    @Option(name: .shortAndLong, help: "The folder of the run, in place of the file's.")
    var output: String?

    @Flag(help: "Go on with the run in the output folder.")
    var resume = false

    @Flag(
        name: .customLong("dry-run"),
        help: "Build all, take a step and validate once; keep nothing, say how long it will take.")
    var dryRun = false

    @Flag(
        name: .customLong("lr-range-test"),
        help: """
            Take 100 steps at learning rates from 1e-7 to 1 and say which is a good one; the \
            curve is written to lr-range.html in the output folder.
            """)
    var learningRateRangeTest = false

    @Flag(help: "Print all keys with their defaults and exit.")
    var defaults = false

    func validate() throws {
        if config == nil && !defaults {
            throw ValidationError("Missing expected argument '--config <file>'")
        }
        if [dryRun, learningRateRangeTest, resume].filter({ $0 }).count > 1 {
            throw ValidationError("--dry-run, --lr-range-test and --resume exclude each other")
        }
    }

    func run() throws {
        guard let config, !defaults else {
            return Console.print(String(TrainingConfiguration().yaml.dropLast()))
        }
        var configuration = try TrainingConfiguration(contentsOf: config, settings: settings)
        if let output { configuration.output = output }
        if dryRun { return try rehearse(configuration) }
        if learningRateRangeTest { return try testLearningRates(configuration) }
        let display = TrainingDisplay(configuration)
        let trainer = try Trainer(configuration, resumes: resume, report: display.show)
        let status = trainer.state
        try display.describe(trainer)
        display.begin(status)
        Interruption.install()
        let outcome = try trainer.run { Interruption.isRequested }
        display.end(outcome)
        if outcome == .interrupted { throw Outcome.interrupted.exit }
    }
}

extension TrainCommand {
    /// Runs `body` with a trainer whose folder is removed again.
    private func withoutTraces<Result>(
        _ configuration: TrainingConfiguration, _ display: TrainingDisplay,
        _ body: (Trainer) throws -> Result
    ) throws -> Result {
        var configuration = configuration
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("retint-\(UUID().uuidString)").path
        configuration.output = folder
        configuration.tensorboard = false
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(try Trainer(configuration, report: display.show))
    }

    private func rehearse(_ configuration: TrainingConfiguration) throws {
        let display = TrainingDisplay(configuration)
        try withoutTraces(configuration, display) { trainer in
            try display.describe(trainer)
            let times = try trainer.rehearse()
            let step = times.step / .seconds(1)
            let validation = times.validation.map { $0 / .seconds(1) }
            let count = Double(configuration.steps)
            let total =
                step * count
                + (validation ?? 0) * (count / Double(configuration.validateEvery)).rounded(.up)
            let photos = trainer.state
            Console.print(
                "\(photos.photos) photos, \(photos.validationPhotos) to validate with; a step "
                    + "takes \(Format.duration(step)), a validation "
                    + "\(validation.map(Format.duration) ?? "–"); \(configuration.steps) steps take "
                    + "about \(Format.duration(total))")
        }
    }

    private func testLearningRates(_ configuration: TrainingConfiguration) throws {
        Interruption.install()
        let steps = 100
        let display = TrainingDisplay(configuration)
        let range = try withoutTraces(configuration, display) { trainer in
            display.beginTest(steps: steps)
            return try trainer.learningRateRange(steps: steps) { Interruption.isRequested }
        }
        display.endTest()
        try makeDirectory(configuration.output)
        let path = "\(configuration.output)/lr-range.html"
        let curve = LinePlot.Series("loss", range.points.map { ($0.rate, $0.loss) })
        let plot = LinePlot(
            "loss against learning rate", xLabel: "learning rate", [curve],
            isLogarithmic: (true, true))
        try HTMLPage(title: "learning-rate range test", body: [plot.html]).write(to: path)
        func text(_ rate: Double?) -> String { rate.map { Format.significant($0) } ?? "none" }
        Console.print(
            "loss falls fastest at learning rate \(text(range.steepest)); a tenth of where it is "
                + "lowest is \(text(range.tenthOfLowest)); \(path) shows the curve")
    }
}

/// What a training shows: a bar for its steps, a line for each validation.
private final class TrainingDisplay {
    private let configuration: TrainingConfiguration
    private var bar: ProgressBar?

    init(_ configuration: TrainingConfiguration) { self.configuration = configuration }

    /// What is trained, and what a step takes.
    func describe(_ trainer: Trainer) throws {
        let summary = try trainer.summary
        var table = TextTable(
            header: ["module", "output", "parameters", "multiply-adds"], rightAligned: [2, 3])
        for row in summary.rows + [summary.total] {
            table.append([
                row.module.isEmpty ? "(no module)" : row.module, "\(row.shape)",
                Format.grouped(row.parameters),
                Format.grouped(row.multiplyAdds),
            ])
        }
        for line in table.lines { Console.note(line) }
        Console.note(
            "a step keeps \(Format.bytes(trainer.stepBytes)) of weights, gradients, optimizer "
                + "state and activations")
    }

    func begin(_ status: Trainer.TrainerStatus) {
        let start = status.stepsBefore > 0 ? ", from step \(status.stepsBefore)" : ""
        Console.note(
            "training \(configuration.architecture) on \(Format.grouped(status.photos)) photos, "
                + "validating on \(Format.grouped(status.validationPhotos))\(start); "
                + "the run is in \(configuration.output)")
        let batch = configuration.batch
        bar = ProgressBar(
            "training", total: configuration.steps * batch, unit: "images",
            start: status.stepsBefore * batch)
    }

    func beginTest(steps: Int) {
        let batch = configuration.batch
        bar = ProgressBar("testing rates", total: steps * batch, unit: "images", start: 0)
    }

    func endTest() { bar?.finish() }

    func show(_ event: TrainingEvent) {
        switch event {
        case .step(let step, let loss):
            bar?.update(step * configuration.batch, note: "loss \(Format.fixed(loss, 5))")
        case .metrics(let record): show(record)
        case .badPhoto(let problem): say { Console.warn("left out \(problem)") }
        case .note(let text): say { Console.note(text) }
        }
    }

    private func show(_ record: MetricsRecord) {
        guard let metrics = record.validation else { return }
        let ratio = metrics.psnr.map { Format.fixed($0, 2) } ?? "∞"
        let line =
            "step \(record.step): validation loss \(Format.fixed(metrics.loss, 5)), "
            + "PSNR \(ratio) dB, ΔE2000 \(Format.fixed(metrics.deltaE2000, 2)), "
            + "colorfulness \(Format.fixed(metrics.colorfulness, 1)) "
            + "of \(Format.fixed(metrics.photoColorfulness, 1))"
        say { Console.note(line) }
    }

    private func say(_ message: () -> Void) {
        bar?.clear()
        message()
    }

    func end(_ outcome: TrainingOutcome) {
        bar?.finish()
        let folder = configuration.output
        switch outcome {
        case .finished: Console.print("\(folder): done; last.h5 and best.h5 hold the weights")
        case .noProgress:
            Console.print(
                "\(folder): validation got no better; last.h5 and best.h5 hold the weights")
        case .timeLimit: Console.print("\(folder): the time limit is reached; saved last.h5")
        case .interrupted: Console.note("interrupted; saved \(folder)/last.h5; --resume goes on")
        }
    }
}

extension TrainingError: OutcomeError {
    package var outcome: Outcome {
        switch kind {
        case .noPhotos, .cannotResume: .badInput
        case .notFinite: .failed
        case .runExists: .wrongUsage
        }
    }
}

extension ConfigurationError: OutcomeError {
    package var outcome: Outcome { isUsage ? .wrongUsage : .badInput }
}

extension NetworkSummary {
    /// All modules together.
    fileprivate var total: Row {
        Row(
            module: "total", shape: output, parameters: parameters,
            multiplyAdds: multiplyAdds)
    }
}
