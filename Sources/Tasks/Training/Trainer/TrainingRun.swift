import RetintArchitectures
import RetintDistributed
import RetintEngine
import RetintFiles
import RetintGraph
import RetintPhotoData
import RetintRuntime
import RetintTensorFiles
import RetintTensors

/// One training: it takes the steps, and decides when to validate, to save and to end.
///
/// Everything here blocks, and may be used by only one thread at a time; ``Trainer`` is its
/// asynchronous interface. With several ranks, all have the same state, and rank 0 writes the
/// folder.
final class TrainingRun {
    let configuration: TrainingConfiguration
    let overview: Trainer.Overview
    let folder: RunFolder
    let log: RunLog
    let state: TrainingState
    let source: BatchSource
    let schedule: StepSchedule
    let ranks: Communicator
    /// Has measured the algorithms that the step computes by; nil if none were.
    private let tuner: KernelTuner?
    /// Where the step's program keeps pixels of photos.
    let keptPixels: Range<Int>
    /// Nil if there are no photos to validate with.
    private(set) var validator: Validator?
    /// The requests of ranks with the last step.
    private var requests = StepRequests()
    /// The step that `last.h5` is of; nil if there is none yet.
    private var savedStep: Int?
    /// The share of the time limit that had passed before the last step.
    private(set) var elapsed = 0.0

    /// Reads the checkpoint, lists the photos, and compiles the training step; writes nothing.
    ///
    /// - Parameters:
    ///   - ranks: the ranks that train together; each creates its own run.
    ///   - report: called for each event, by the thread that trains.
    /// - Throws: ``TrainingError`` for a configuration that does not fit the network, a folder
    ///   without photos, or an output folder that cannot be used; the errors of reading
    ///   checkpoints and photos.
    convenience init(
        _ configuration: TrainingConfiguration, from start: TrainingStart = .fresh,
        ranks: Communicator = .single, report: @escaping (TrainingEvent) -> Void = { _ in }
    ) throws {
        do {
            try self.init(preparing: configuration, from: start, ranks: ranks, report: report)
        } catch let error as TrainingError {
            throw configuration.located(error)
        }
    }

    /// The errors name keys, and not where their values were read.
    private init(
        preparing configuration: TrainingConfiguration, from start: TrainingStart,
        ranks: Communicator, report: @escaping (TrainingEvent) -> Void
    ) throws {
        try configuration.checkFiles(resumes: start == .resumed)
        try configuration.checkOutput()
        let photos = try PhotoFolder(configuration.data) { report(.badPhoto("\($0)")) }
        let configuration = try configuration.shared(over: ranks).counted(
            photos: photos.training.count)
        (self.configuration, self.ranks) = (configuration, ranks)
        (folder, log) = (RunFolder(configuration.output), RunLog(ranks: ranks, report: report))
        if start == .resumed, ranks.rank == 0 { try folder.lockExisting() }
        var (checkpoint, progress) = try start.begin(configuration, in: folder, report)
        if start == .resumed { savedStep = progress.step }
        if let problem = progress.change(to: photos.fingerprint) { report(.note(problem)) }
        progress.lossScale =
            configuration.compute == .float16 ? progress.lossScale ?? LossScale() : nil
        let network = try checkpoint.network.make()
        try configuration.checkSides(for: network)
        schedule = try configuration.stepSchedule()
        var objective = try Objective(
            network, configuration.loss, configuration.distillation,
            hints: configuration.data.hints, seed: UInt64(configuration.seed))
        let cache = PhotoCache(photos.training, configuration.data)
        let side = configuration.data.crop
        let classes = ClassTargets(network, configuration.loss, photos: cache, side: side)
        objective.feed = configuration.feed(classes)
        objective.feed.keptPixels = configuration.keptPixels(
            of: photos.training.count, objective.feed)
        source = try BatchSource(
            cache, configuration.batchOptions, feed: objective.feed, ranks: ranks)
        try checkpoint.setInputRanges(for: configuration, objective, source, ranks)
        let options = configuration.stepOptions(schedule.groups)
        tuner = options.compile.tuner
        let step = try Self.steps(
            &objective, options, configuration, weights: checkpoint.variables, ranks, report)
        let start = objective.feed.photoStart(
            batch: BatchShares(of: configuration.batch, over: ranks).own.count, side: side)
        keptPixels = start..<start + objective.feed.keptPixels
        let examined = photos.sample(progress.step == 0 && ranks.rank == 0 ? 48 : 0)
        overview = Trainer.Overview(
            firstStep: progress.step, photos: photos.training.count,
            validationPhotos: photos.validation.count, examinedPhotos: examined.count,
            grayPhotos: PhotoSurvey(examined).dropped.count { $0.problem.kind == "gray" },
            ranks: ranks.size, stepBytes: step.bytes,
            network: NetworkSummary(of: network, input: [1, 1, side, side]))
        state = try TrainingState(checkpoint, progress, step, ranks: ranks, file: folder.last)
        // Before any of them writes files that another one might find in the folder.
        try state.requireEqualRanks()
        guard !photos.validation.isEmpty else { return }
        let validator = try Validator(
            objective, configuration.validationOptions, photos: photos.validation, ranks: ranks)
        for photo in validator.badPhotos { report(.badPhoto(photo)) }
        self.validator = validator
    }

    /// The compiled step. A GPU that would not have memory left for validations keeps no photos.
    private static func steps(
        _ objective: inout Objective, _ options: StepOptions,
        _ configuration: TrainingConfiguration, weights: [String: TensorData],
        _ ranks: Communicator, _ report: (TrainingEvent) -> Void
    ) throws -> SizedSteps {
        func made() throws -> SizedSteps {
            try SizedSteps(
                objective, options, sides: configuration.data.sides, weights: weights,
                ranks: ranks)
        }
        guard objective.feed.keptPixels > 0 else { return try made() }
        // A validation needs less than a step does, which keeps what its backward pass reads.
        if let step = try? made(), let free = configuration.freeGPUBytes, step.bytes <= free {
            return step
        }
        objective.feed.keptPixels = 0
        report(.note("the GPU has too little memory to keep photos, too: crops are copied to it"))
        return try made()
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
    ) throws -> Trainer.Outcome {
        let firstStep = state.progress.step
        if ranks.rank == 0 {
            try folder.takeLock(isNew: firstStep == 0)
            try folder.reserveSpace(bytes: state.step.variableBytes)
        }
        defer { folder.unlock() }
        // A run that goes on computes by the same algorithms.
        if let tuner { try KernelFile.write(tuner.choices) }
        try log.open { try folder.openSinks(configuration, resumingAt: firstStep) }
        try keepResumed(firstStep)
        do {
            return try train(until: end, shouldStop)
        } catch {
            let isOfFiles = error is FileError || error is TensorFileError
            // Whatever could not be written, the state can be: there is space for it.
            if isOfFiles, ranks.size == 1 { try? save(keeps: false) }
            throw error
        }
    }

    private func train(until end: Int?, _ shouldStop: () -> Bool) throws -> Trainer.Outcome {
        let firstStep = state.progress.step
        if state.progress.isValidationDue == true { try validate(shouldStop) }
        let lastStep = min(end ?? configuration.steps, configuration.steps)
        let time = TrainingTime(before: state.progress.seconds ?? 0, limit: configuration.timeLimit)
        let loader = BatchLoader(
            source, steps: firstStep..<max(lastStep, firstStep),
            threads: configuration.loaderThreads(ranks),
            keeping: keptPixels.isEmpty ? nil : KeptPhotos(in: keptPixels))
        defer { loader.stop() }
        requests = StepRequests(elapsed: time.shareAtStart)
        while state.progress.step < lastStep {
            let own = StepRequests(
                stops: shouldStop(), isTimeUp: time.isUp,
                elapsed: ranks.rank == 0 ? time.share : 0)
            // Several ranks stop together, after a step in which one of them requested it.
            if ranks.size == 1 { requests = own }
            if requests.stops { return try finish(.interrupted) }
            state.progress.seconds = time.seconds
            if requests.isTimeUp {
                return try finish(
                    .timeLimit, validates: !isDue(configuration.validateEvery), shouldStop)
            }
            try advance(loader, own)
            if isDue(configuration.validateEvery) {
                try validate { requests.stops || shouldStop() }
            }
            // After the last step, a run is saved once it has been validated: one that is killed
            // before that would have nothing left to do.
            if isDue(configuration.saveEvery), state.progress.step < lastStep { try save() }
            if let patience = configuration.patience,
                state.progress.validationsSinceBest >= patience
            {
                return try finish(.noProgress)
            }
        }
        return try finish(.finished, validates: !isDue(configuration.validateEvery), shouldStop)
    }

    /// Whether something that happens every `interval` steps is due after the step just taken.
    private func isDue(_ interval: Int) -> Bool {
        let step = state.progress.step
        return step > state.firstStep && step.isMultiple(of: interval)
    }

    private func finish(
        _ outcome: Trainer.Outcome, validates: Bool = false,
        _ shouldStop: () -> Bool = { false }
    ) throws -> Trainer.Outcome {
        if validates, state.progress.step > state.firstStep { try validate(shouldStop) }
        // A validation that was stopped is part of the run.
        let outcome = state.progress.isValidationDue == true ? .interrupted : outcome
        try save(keeps: outcome != .interrupted)
        return outcome
    }

    /// Writes `last.h5`.
    ///
    /// - Parameter keeps: whether it is one of the checkpoints to keep. The checkpoint of an
    ///   interruption is not: it would displace one that an uninterrupted run would have.
    private func save(keeps: Bool = true) throws {
        let (saved, step) = (try state.checkpoint(), state.progress.step)
        if let saved { try folder.write(saved, to: folder.last, step: step) }
        savedStep = step
        if keeps, saved != nil { try folder.keepLast(step: step, count: configuration.keepLast) }
    }

    /// Keeps `last.h5` if it is one of the checkpoints to keep: the run may have been ended after
    /// it was written and before it was kept.
    private func keepResumed(_ step: Int) throws {
        guard ranks.rank == 0, step > 0, step.isMultiple(of: configuration.saveEvery) else {
            return
        }
        try folder.keepLast(step: step, count: configuration.keepLast)
    }

    /// - Parameter own: the requests of this rank.
    private func advance(_ loader: BatchLoader, _ own: StepRequests) throws {
        let clock = ContinuousClock()
        let start = clock.now
        let batch = try loader.take()
        let loaded = clock.now
        elapsed = Double(requests.elapsed)
        var settings = schedule.settings(at: state.progress.step, elapsed: elapsed)
        settings.requests = own
        if let scale = state.progress.lossScale { settings.lossScale = scale.value }
        let waited = ranks.waitingTime
        let result = try state.step.run(batch, settings)
        requests = result.requests
        try countSkip(result, batch, settings)
        state.progress.step += 1
        state.meter.add(
            result, applies: settings.applies, waiting: loaded - start,
            communicating: ranks.waitingTime - waited, total: clock.now - start)
        log.report(.step(state.progress.step, loss: Double(result.loss)))
        log.reportNewlyBad(source.photos.badPhotos)
        if isDue(configuration.logEvery) { try logTraining() }
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
        if state.countOverflow(result) { return }
        guard !result.isFinite else {
            state.consecutiveSkips = 0
            return
        }
        state.consecutiveSkips += 1
        let skips = state.consecutiveSkips
        let value = result.loss.isFinite ? "gradient" : "loss"
        let problem = "step \(state.progress.step + 1): the \(value) is not finite"
        guard configuration.anomaly || skips >= Self.maximumConsecutiveSkips else {
            return log.report(.note("\(problem); the step is skipped"))
        }
        // The search needs memory of its own, which a GPU may not have.
        let origin: String
        do {
            let first = try state.step.firstNonFinite(batch, settings)
            origin = "the first non-finite result is from \(first ?? "the optimizer")"
        } catch let error as GraphError {
            origin = "where it comes from was not found: \(error)"
        }
        throw TrainingError(
            .notFinite,
            "\(problem)\(skips > 1 ? ", like the \(skips - 1) before" : ""); "
                + "\(origin), at a learning rate of \(settings.learningRates.last ?? 0); "
                + wayOut(
                    "lower optimizer.learning_rate, or set optimizer.clip_grad_norm or "
                        + "schedule.warmup_steps,"))
    }

    /// What is saved of a run whose values are no longer finite, and how to go on.
    ///
    /// - Parameter change: what may keep them finite: "lower optimizer.learning_rate".
    func wayOut(_ change: String) -> String {
        savedStep.map { "last.h5 is still that of step \($0); \(change) and resume" }
            ?? "nothing has been saved yet; \(change) and start again"
    }
}
