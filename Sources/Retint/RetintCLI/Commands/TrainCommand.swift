import ArgumentParser
import Foundation
import Retint
import Synchronization

struct TrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "train",
        abstract: "Train a colorizer on a folder of photos.",
        discussion: """
            The output folder contains the run: config.yaml, metrics.jsonl, report.html, last.h5 \
            to resume from, and best.h5 with the lowest validation loss. Ctrl-C, SIGTERM or \
            SIGUSR1 saves last.h5 and exits with 130; --resume continues, bit for bit as if the \
            run had never stopped. When started by mpirun or srun, all ranks train together.

            For example:
              retint train --config run.yaml --output run
              retint train --output run --resume
            """)

    @Option(
        help: ArgumentHelp(
            "The YAML file (see --defaults); with --resume, the default is that of the run.",
            valueName: "file"), completion: .yaml)
    var config: String?

    @Option(
        name: .customLong("set"), parsing: .upToNextOption,
        help: ArgumentHelp("Values that override those of the file.", valueName: "key=value"))
    var settings: [String] = []

    @Option(
        name: .shortAndLong, help: "The folder of the run; overrides the file.",
        completion: .directory)
    var output: String?

    @Option(
        help: """
            The format in which convolutions multiply if this CPU is faster in it; overrides \
            the file. auto is the fastest on this CPU.
            """)
    var compute: ComputeFormat?

    @OptionGroup var device: DeviceOption

    @Flag(help: "Continue the run in the output folder.")
    var resume = false

    @Flag(
        name: .customLong("auto-resume"),
        help: """
            Continue the run in the output folder if there is one; otherwise start it (for job \
            queues).
            """)
    var autoResume = false

    @Flag(
        name: .customLong("dry-run"),
        help: "Take two steps, validate once and estimate the duration; write nothing.")
    var dryRun = false

    @Flag(
        name: .customLong("lr-range-test"),
        help: """
            Take 100 steps at learning rates from 1e-7 to 1 and suggest a rate; the curve is \
            written to lr-range.html in the output folder.
            """)
    var learningRateRangeTest = false

    @Option(
        help: ArgumentHelp(
            """
            Write a picture of the first crops and exit: the network's input next to the target \
            colors.
            """, valueName: "file"), completion: .photo)
    var samples: String?

    @Flag(help: "Print all keys with their defaults and exit.")
    var defaults = false

    func validate() throws {
        if configFile == nil && settings.isEmpty && !defaults {
            throw ValidationError(
                "Missing expected argument '--config <file>', or '--set data.train=PHOTOS'")
        }
        let modes = [dryRun, learningRateRangeTest, samples != nil, resume, autoResume]
        if modes.filter({ $0 }).count > 1 {
            throw ValidationError(
                "--dry-run, --lr-range-test, --samples, --resume and --auto-resume exclude each "
                    + "other")
        }
    }

    /// The configuration that was named, or that of the run that is continued.
    private var configFile: String? {
        config ?? (resume ? output.map { "\($0)/config.yaml" } : nil)
    }

    func run() async throws {
        guard !defaults else {
            return Console.printLines(String(TrainingConfiguration().yaml.dropLast()))
        }
        let file = configFile
        var configuration = try TrainingConfiguration(
            contentsOf: file, settings: settings, isOfRun: config == nil)
        if let output { configuration.output = output }
        if let compute { configuration.compute = compute.arithmetic }
        if let device = device.device { configuration.device = device }
        let ranks = try joinRanks()
        if dryRun || learningRateRangeTest || samples != nil {
            try ranks.requireOne(for: "--dry-run, --lr-range-test and --samples")
        }
        if let samples {
            let folders = [configuration.data.train, configuration.data.validation ?? ""]
            let photos = folders.flatMap {
                (try? PhotoReference.list($0, leavingOut: { _ in })) ?? []
            }
            return try write(
                samples, configuration,
                inputs: [file].compactMap(\.self) + Photos.files(photos))
        }
        if ranks.rank == 0, let start = configuration.start {
            // What cannot be read is an error of the training itself.
            (try? Model(contentsOf: start)).map(warnOfRange)
        }
        if dryRun { return try await rehearse(configuration) }
        if learningRateRangeTest { return try await testLearningRates(configuration) }
        let outcome = try await train(configuration, ranks)
        if outcome == .interrupted { throw ExitStatus.interrupted.exit }
    }

    private func train(
        _ configuration: TrainingConfiguration, _ ranks: Communicator
    ) async throws -> Trainer.Outcome {
        let resumes = resume || autoResume && Trainer.canResume(configuration)
        let trainer = try Trainer(configuration, resumes: resumes, ranks: ranks)
        let display = TrainingDisplay(trainer.configuration)
        display.begin(trainer.overview)
        let outcome = try await Interruption.cancelling {
            var outcome = Trainer.Outcome.interrupted
            for try await event in trainer.events() {
                display.show(event)
                if case .finished(let ending) = event { outcome = ending }
            }
            return outcome
        }
        display.end(outcome)
        return outcome
    }
}

extension TrainCommand {
    private func rehearse(_ configuration: TrainingConfiguration) async throws {
        let display = TrainingDisplay(configuration)
        let rehearsal = try await Trainer.rehearse(configuration) { display.show($0) }
        display.describe(rehearsal.overview)
        let duration = { (time: Duration) in Format.duration(time / .seconds(1)) }
        Console.print(
            "\(rehearsal.overview.photos) photos, \(rehearsal.overview.validationPhotos) to "
                + "validate with; a step takes \(duration(rehearsal.step)), a validation "
                + "\(rehearsal.validation.map(duration) ?? "–"); "
                + (rehearsal.steps < rehearsal.plannedSteps
                    ? "the time limit of \(duration(rehearsal.total)) ends the training after "
                        + "about \(rehearsal.steps) of \(rehearsal.plannedSteps) steps"
                    : "\(rehearsal.steps) steps take about \(duration(rehearsal.total))"))
    }

    private func write(
        _ path: String, _ configuration: TrainingConfiguration, inputs: [String]
    ) throws {
        let claim = try OutputClaim(path, inputs: inputs)
        defer { claim.end() }
        let side = configuration.data.crop
        let pairs = try Trainer.samples(of: configuration).map { sample in
            Image.sideBySide(
                [sample.input, sample.target].map { $0.resized(to: side, height: side) }, gap: 2)
        }
        try Image.grid(pairs, columns: 4).write(to: path)
        Console.print(path)
    }

    private func testLearningRates(_ configuration: TrainingConfiguration) async throws {
        let steps = 100
        let display = TrainingDisplay(configuration)
        display.beginTest(steps: steps)
        let range = try await Interruption.cancelling {
            try await Trainer.learningRateRange(configuration, steps: steps) { display.show($0) }
        }
        display.finishBar()
        let path = "\(configuration.output)/lr-range.html"
        try range.writePage(to: path)
        guard let rate = range.tenthOfLowestRate else {
            return Console.print("no step was taken; the curve is in \(path)")
        }
        Console.print(
            "optimizer.learning_rate: \(Format.significant(rate)) is a tenth of the rate with the "
                + "lowest loss; the curve is in \(path)")
    }
}

/// The messages of a training run: a bar for its steps, a line for each validation.
private final class TrainingDisplay: Sendable {
    private let configuration: TrainingConfiguration
    private let bar = Mutex<ProgressBar?>(nil)
    private let latest = Mutex(Latest())
    private let isWarned = Mutex(false)

    /// What the bar says: the values of the last record, which are all of its step; before the
    /// first one, the loss of each step.
    private struct Latest {
        /// Steps between records; nil if there are none.
        var logEvery: Int?
        private var step = 0
        private var epoch: Int?
        private var loss, learningRate: Double?
        private var validation: (step: Int, deltaE2000: Double)?

        /// - Returns: whether to show it: the record of a step follows at once.
        mutating func add(step: Int, loss: Double) -> Bool {
            if learningRate == nil { (self.step, self.loss) = (step, loss) }
            return logEvery.map { !step.isMultiple(of: $0) } ?? true
        }

        mutating func add(_ record: MetricsRecord) {
            if let metrics = record.validation {
                validation = (record.step, metrics.deltaE2000)
            } else {
                (step, epoch) = (record.step, record.epoch)
                (loss, learningRate) = (record.loss, record.learningRate)
            }
        }

        var note: String {
            var parts = ["step \(step)"]
            if let epoch { parts.append("epoch \(epoch + 1)") }
            if let loss { parts.append("loss \(Format.fixed(loss, 5))") }
            if let learningRate { parts.append("rate \(Format.significant(learningRate))") }
            if let validation {
                let difference = Format.fixed(validation.deltaE2000, 2)
                parts.append("ΔE2000 \(difference) at step \(validation.step)")
            }
            return parts.joined(separator: ", ")
        }
    }

    init(_ configuration: TrainingConfiguration) { self.configuration = configuration }

    /// Shows the network and the memory that a step takes.
    func describe(_ overview: Trainer.Overview) {
        var table = TextTable(
            header: ["module", "output", "parameters", "multiply-adds"], rightAligned: [2, 3])
        for row in overview.network.rows + [overview.network.total] {
            table.append([
                row.module.isEmpty ? "(no module)" : row.module, "\(row.shape)",
                Format.grouped(row.parameters), Format.grouped(row.multiplyAdds),
            ])
        }
        for line in table.lines { Console.note(line) }
        Console.note(
            "a step needs \(Format.bytes(overview.stepBytes)) for weights, gradients, optimizer "
                + "state and activations")
        warnOfGrayPhotos(overview)
    }

    /// Says if training photos have no colors: a network learns from them to leave photos gray.
    private func warnOfGrayPhotos(_ overview: Trainer.Overview) {
        let (gray, examined) = (overview.grayPhotos, overview.examinedPhotos)
        guard gray > 0, configuration.distillation.teacher == nil else { return }
        isWarned.withLock { $0 = true }
        let which =
            examined == overview.photos
            ? "\(gray) of the \(Format.counted(examined, "photo"))"
            : "\(gray) of \(Format.counted(examined, "photo")) that were looked at"
        Console.warn(
            "\(which) have no colors, so the network also learns to leave photos gray; "
                + "`retint dataset inspect` lists such photos, and `retint dataset split` makes "
                + "lists without them")
    }

    func begin(_ overview: Trainer.Overview) {
        describe(overview)
        if configuration.compute != .float32 {
            let format = configuration.compute.summary(on: configuration.device, trains: true)
            Console.note("convolutions multiply in \(format)")
        }
        let first = overview.firstStep
        Console.note(
            "training \(configuration.architecture) on \(Format.grouped(overview.photos)) photos, "
                + "validating on \(Format.grouped(overview.validationPhotos))"
                + (overview.ranks > 1 ? ", with \(overview.ranks) ranks" : "")
                + (first > 0 ? ", from step \(first)" : "")
                + "; the run is in \(configuration.output)")
        latest.withLock { $0.logEvery = configuration.logEvery }
        start("training", steps: configuration.steps, from: first)
    }

    func beginTest(steps: Int) { start("testing rates", steps: steps, from: 0) }

    private func start(_ label: String, steps: Int, from first: Int) {
        let batch = configuration.batch
        bar.withLock {
            $0 = ProgressBar(label, total: steps * batch, unit: "images", start: first * batch)
        }
    }

    func finishBar() { bar.withLock { $0?.finish() } }

    func show(_ event: TrainingEvent) {
        switch event {
        case .step(let step, let loss):
            if latest.withLock({ $0.add(step: step, loss: loss) }) { showProgress(step) }
        case .metrics(let record): show(record)
        case .badPhoto(let problem): write { Console.warn("skipped \(problem)") }
        case .note(let text): write { Console.note(text) }
        case .finished: break
        }
    }

    private func showProgress(_ step: Int) {
        let note = latest.withLock { $0.note }
        bar.withLock { $0?.update(step * configuration.batch, note: note) }
    }

    private func show(_ record: MetricsRecord) {
        latest.withLock { $0.add(record) }
        guard let metrics = record.validation else { return showProgress(record.step) }
        let ratio = metrics.psnr.map { Format.fixed($0, 2) } ?? "∞"
        let line =
            "step \(record.step): validation loss \(Format.fixed(metrics.loss, 5)), "
            + "PSNR \(ratio) dB, ΔE2000 \(Format.fixed(metrics.deltaE2000, 2)), "
            + "colorfulness \(Format.fixed(metrics.colorfulness, 1)) "
            + "of \(Format.fixed(metrics.photoColorfulness, 1))"
        write { Console.note(line) }
        warnOfGray(metrics.photoColorfulness)
    }

    /// Says once that there is nothing to learn from the photos.
    private func warnOfGray(_ colorfulness: Double) {
        guard colorfulness < Photos.leastColorfulness, configuration.distillation.teacher == nil,
            isWarned.withLock({ isWarned in
                defer { isWarned = true }
                return !isWarned
            })
        else { return }
        write {
            Console.warn(
                "the validation photos have no colors, so the network learns to leave photos gray; "
                    + "train on color photos (retint dataset inspect), or with a teacher")
        }
    }

    /// Writes a message in the line of the bar.
    private func write(_ message: () -> Void) {
        bar.withLock {
            $0?.clear()
            message()
        }
    }

    func end(_ outcome: Trainer.Outcome) {
        finishBar()
        let folder = configuration.output
        switch outcome {
        case .finished:
            // A run that was ended before its first validation has no best weights.
            let hasBest = FileManager.default.fileExists(atPath: folder + "/best.h5")
            Console.print(
                "\(folder): done; the weights are in "
                    + (hasBest
                        ? "last.h5 and best.h5"
                        : "last.h5; there is no best.h5, since no validation has run"))
        case .noProgress:
            Console.print(
                "\(folder): the validation loss stopped falling; last.h5 and best.h5 hold the "
                    + "weights")
        case .timeLimit:
            Console.print(
                "\(folder): the time limit was reached; saved last.h5; --resume --set "
                    + "time_limit=MINUTES continues")
        case .interrupted:
            Console.note("interrupted; saved \(folder)/last.h5; --resume continues")
        }
    }
}

extension NetworkSummary {
    /// All modules together.
    fileprivate var total: Row {
        Row(
            module: "total", shape: output, parameters: parameters,
            multiplyAdds: multiplyAdds)
    }
}
