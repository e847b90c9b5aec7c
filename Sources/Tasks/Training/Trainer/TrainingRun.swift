import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintDistributed
import RetintFiles
import RetintGraph
import RetintTensorFiles

/// The state of one training run: network, optimizer, data, and the run's folder.
///
/// Everything here blocks, and may be used by only one thread at a time; ``Trainer`` is its
/// asynchronous interface. With several ranks, all have the same state, and rank 0 writes the
/// folder.
final class TrainingRun {
    /// The starting point of a run.
    enum Start {
        /// New weights, or those of the configuration's `init` checkpoint.
        case fresh
        /// `last.h5` in the output folder.
        case resumed
        /// As ``fresh``, for a few steps whose results are discarded: nothing is written, so an
        /// existing run in the output folder does not matter.
        case trial
    }

    let configuration: TrainingConfiguration
    let overview: TrainingOverview
    let folder: String
    var progress: TrainingProgress
    let checkpoint: Checkpoint
    let step: SizedSteps
    let source: BatchSource
    /// Nil if there are no photos to validate with.
    private(set) var validator: Validator?
    let groups: [ParameterGroupRule]
    let report: (TrainingEvent) -> Void
    let ranks: Communicator
    /// Where metrics are written; opened by the first call of ``run(until:shouldStop:)``.
    private(set) var sinks: [any MetricsSink] = []
    /// Keeps other processes from training in the folder, from the moment when this one reads
    /// `last.h5`.
    private var lock: FolderLock?
    var meter: StepMeter
    /// Consecutive steps whose loss or gradient was not finite.
    var consecutiveSkips: Int
    /// Files of training photos that were reported as unreadable.
    private var reportedPhotos: Set<String> = []
    /// The requests of ranks with the last step.
    private var requests = StepRequests()

    /// Reads the checkpoint, lists the photos, and compiles the training step; writes nothing.
    ///
    /// - Parameters:
    ///   - ranks: the ranks that train together; each creates its own run.
    ///   - report: called for each event, by the thread that trains.
    /// - Throws: ``TrainingError`` for a configuration that does not fit the network, a folder
    ///   without photos, or an output folder that cannot be used; the errors of reading
    ///   checkpoints and photos.
    init(
        _ configuration: TrainingConfiguration, from start: Start = .fresh,
        ranks: Communicator = .single, report: @escaping (TrainingEvent) -> Void = { _ in }
    ) throws {
        let configuration = try configuration.shared(over: ranks)
        (self.configuration, self.ranks, self.report) = (configuration, ranks, report)
        folder = configuration.output
        let photos = try PhotoFolder(configuration.data)
        if case .resumed = start, ranks.rank == 0 { lock = try Self.existingLock(folder) }
        var progress: TrainingProgress
        (checkpoint, progress) = try Self.begin(configuration, start, report)
        if let problem = progress.change(to: photos.fingerprint) { report(.note(problem)) }
        self.progress = progress
        (meter, consecutiveSkips) = (progress.meter ?? StepMeter(), progress.consecutiveSkips ?? 0)
        let network = try checkpoint.network.make()
        groups = try configuration.groupRules()
        step = try SizedSteps(
            network, configuration, weights: checkpoint.variables, ranks: ranks)
        let cache = PhotoCache(photos.training, configuration.data)
        let classes = ClassTargets(network, configuration, photos: cache)
        source = try BatchSource(cache, configuration, classes: classes, ranks: ranks)
        let side = configuration.data.crop
        overview = TrainingOverview(
            firstStep: progress.step, photos: photos.training.count,
            validationPhotos: photos.validation.count, ranks: ranks.size, stepBytes: step.bytes,
            network: NetworkSummary(of: network, input: [1, 1, side, side]))
        try load()
        // Before any of them writes files that another one might find in the folder.
        try requireEqualRanks()
        guard !photos.validation.isEmpty else { return }
        let validator = try Validator(
            network, configuration, photos: photos.validation, classes: classes, ranks: ranks)
        for photo in validator.badPhotos { report(.badPhoto(photo)) }
        self.validator = validator
    }

    /// Trains until the last step, the time limit, or until `shouldStop` returns true, and saves
    /// the state.
    ///
    /// - Parameters:
    ///   - end: the step to pause after; nil: the last one.
    ///   - shouldStop: called before each step and each validation batch.
    /// - Throws: ``TrainingError`` when a value is no longer finite; `last.h5` stays as it was.
    func run(
        until end: Int? = nil, shouldStop: () -> Bool = { false }
    ) throws -> TrainingOutcome {
        try takeLock()
        defer { lock = nil }
        try openSinks()
        if progress.isValidationDue == true { try validate(shouldStop) }
        let lastStep = min(end ?? configuration.steps, configuration.steps)
        let deadline = configuration.timeLimit.map { ContinuousClock.now + .seconds($0 * 60) }
        let loader = BatchLoader(
            source, steps: progress.step..<max(lastStep, progress.step),
            threads: configuration.data.loaderThreads)
        defer { loader.stop() }
        requests = StepRequests()
        while progress.step < lastStep {
            let own = StepRequests(
                stops: shouldStop(), isTimeUp: deadline.map { ContinuousClock.now >= $0 } ?? false)
            // Several ranks stop together, after a step in which one of them requested it.
            if ranks.size == 1 { requests = own }
            if requests.stops { return try finish(.interrupted) }
            if requests.isTimeUp { return try finish(.timeLimit, validates: true, shouldStop) }
            try advance(loader, own)
            if isDue(configuration.validateEvery) {
                try validate { requests.stops || shouldStop() }
            }
            if isDue(configuration.saveEvery) { try save() }
            if let patience = configuration.patience, progress.validationsSinceBest >= patience {
                return try finish(.noProgress)
            }
        }
        return try finish(.finished, validates: !isDue(configuration.validateEvery), shouldStop)
    }

    /// The files that a run writes in its folder, existing or not.
    private static let reservedNames = [
        "config.yaml", "metrics.jsonl", "report.html", "last.h5", "best.h5",
    ]

    /// The lock of a run's folder; nil if there is none.
    private static func existingLock(_ folder: String) throws -> FolderLock? {
        try FileKind(at: folder) == .directory
            ? FolderLock(folder, reserving: reservedNames) : nil
    }

    /// Creates the output folder and keeps other processes from training in it.
    private func takeLock() throws {
        guard lock == nil, ranks.rank == 0 else { return }
        try createFolder(folder)
        let new = try FolderLock(folder, reserving: Self.reservedNames)
        // Another run may have started since this one was prepared.
        if progress.step == 0 { try Self.requireNoRun(in: folder) }
        lock = new
    }

    /// Writes `config.yaml` and opens the files of metrics.
    private func openSinks() throws {
        guard sinks.isEmpty, ranks.rank == 0 else { return }
        let step = progress.step
        var opened: [any MetricsSink] = [
            try MetricsLog("\(folder)/metrics.jsonl", resumingAt: step),
            try RunReport(configuration, resumingAt: step),
        ]
        if configuration.tensorboard {
            opened.insert(try TensorBoardLog(folder: folder, resumingAt: step), at: 1)
        }
        try AtomicFile.write(Array(configuration.yaml.utf8), to: "\(folder)/config.yaml")
        sinks = opened
    }

    /// Whether something that happens every `interval` steps is due after the step just taken.
    private func isDue(_ interval: Int) -> Bool {
        progress.step > overview.firstStep && progress.step.isMultiple(of: interval)
    }

    private func finish(
        _ outcome: TrainingOutcome, validates: Bool = false,
        _ shouldStop: () -> Bool = { false }
    ) throws -> TrainingOutcome {
        if validates, progress.step > overview.firstStep { try validate(shouldStop) }
        // A validation that was stopped is part of the run.
        let outcome = progress.isValidationDue == true ? .interrupted : outcome
        try save(keeps: outcome != .interrupted)
        return outcome
    }

    /// - Parameter own: the requests of this rank.
    private func advance(_ loader: BatchLoader, _ own: StepRequests) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let batch = try loader.take()
        let loaded = clock.now
        var settings = configuration.settings(at: progress.step, groups)
        settings.requests = own
        let waited = ranks.waitingTime
        let result = try step.run(batch, settings)
        requests = result.requests
        try countSkip(result, batch, settings)
        progress.step += 1
        meter.add(
            result, waiting: loaded - start, communicating: ranks.waitingTime - waited,
            total: clock.now - start)
        report(.step(progress.step, loss: Double(result.loss)))
        if ranks.size == 1 { takeUnreportedPhotos().forEach { report(.badPhoto($0)) } }
        if isDue(configuration.logEvery) { try logTraining() }
    }

    /// The errors of photos that could not be read since the last call.
    func takeUnreportedPhotos() -> [String] {
        let bad = source.photos.badPhotos
        guard bad.count > reportedPhotos.count else { return [] }
        return bad.filter { reportedPhotos.insert($0.file).inserted }.map { "\($0)" }
    }
}

// MARK: Steps that are not finite

extension TrainingRun {
    /// Consecutive steps that may be skipped because their loss or gradient is not finite.
    private static let maximumConsecutiveSkips = 10

    /// - Throws: ``TrainingError`` after ``maximumConsecutiveSkips``, or at the first one if the
    ///   configuration sets `anomaly`.
    private func countSkip(
        _ result: TrainingStep.Result, _ batch: Batch, _ settings: TrainingStep.Settings
    ) throws {
        guard !result.isFinite else {
            consecutiveSkips = 0
            return
        }
        consecutiveSkips += 1
        let value = result.loss.isFinite ? "gradient" : "loss"
        let problem = "step \(progress.step + 1): the \(value) is not finite"
        guard configuration.anomaly || consecutiveSkips >= Self.maximumConsecutiveSkips else {
            return report(.note("\(problem); the step is skipped"))
        }
        let first = try step.firstNonFinite(batch, settings)
        throw TrainingError(
            .notFinite,
            "\(problem)\(consecutiveSkips > 1 ? ", like the \(consecutiveSkips - 1) before" : ""); "
                + "the first non-finite result is from \(first ?? "the optimizer"). Nothing was "
                + "saved since. The learning rate was \(settings.learningRates.last ?? 0): lower "
                + "optimizer.learning_rate, or set optimizer.clip_grad_norm or "
                + "schedule.warmup_steps, and resume")
    }
}
