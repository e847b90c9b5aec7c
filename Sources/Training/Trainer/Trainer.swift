import Checkpoints
import Colorizers
import Files
import Foundation
import TensorFiles
import TensorGraph

/// Trains a network as a configuration says, and keeps the run in a folder: `config.yaml`,
/// `metrics.jsonl`, `last.h5` to go on from, `best.h5` of the lowest validation loss.
package final class Trainer {
    package let configuration: TrainingConfiguration
    package private(set) var state: TrainerStatus
    let folder: String
    var trainer: TrainerState
    var checkpoint: Checkpoint
    let step: TrainingStep
    private let source: BatchSource
    private let validator: Validator?
    private let sinks: [any MetricsSink]
    private let groups: [ParameterGroupRule]
    private let report: (TrainingEvent) -> Void
    private var reportedBadPhotos = 0
    private var meter = Meter()

    /// What can be seen from outside.
    package struct TrainerStatus: Hashable, Sendable {
        package var stepsBefore: Int
        package var photos, validationPhotos: Int
    }

    /// Prepares a run; nothing is trained yet.
    ///
    /// - Throws: What the photos, the checkpoint to start from, and the folder can have wrong;
    ///   ``TrainingError`` if the folder holds a run that is not to be resumed, or none that is.
    package init(
        _ configuration: TrainingConfiguration, resumes: Bool = false,
        report: @escaping (TrainingEvent) -> Void = { _ in }
    ) throws {
        (self.configuration, self.report) = (configuration, report)
        folder = configuration.output
        let photos = try PhotoFolder(configuration.data)
        (checkpoint, trainer) = try Self.start(configuration, resumes: resumes, report)
        let network = try checkpoint.makeColorizer()
        groups = try configuration.groupRules()
        step = try TrainingStep(network, configuration, weights: checkpoint.variables)
        let cache = PhotoCache(
            photos.training, shortSide: 2 * configuration.data.crop,
            maximumBytes: configuration.data.cacheMegabytes << 20)
        let classes = ClassTargets(network, configuration, photos: cache)
        source = try BatchSource(cache, configuration, classes: classes)
        validator =
            photos.validation.isEmpty
            ? nil
            : try Validator(
                network, configuration, photos: photos.validation, classes: classes)
        state = TrainerStatus(
            stepsBefore: trainer.step, photos: photos.training.count,
            validationPhotos: photos.validation.count)
        try Self.makeFolder(folder)
        sinks = try Self.sinks(configuration, resumingAt: trainer.step)
        try AtomicFile.write(Array(configuration.yaml.utf8), to: "\(folder)/config.yaml")
        try load()
        for photo in validator?.badPhotos ?? [] { report(.badPhoto("\(photo)")) }
    }

    private static func sinks(
        _ configuration: TrainingConfiguration, resumingAt step: Int
    ) throws -> [any MetricsSink] {
        let folder = configuration.output
        let log = try MetricsLog("\(folder)/metrics.jsonl", resumingAt: step)
        let report = try RunReport(configuration, resumingAt: step)
        guard configuration.tensorboard else { return [log, report] }
        return [log, try TensorBoardLog(folder: folder, resumingAt: step), report]
    }

    private static func makeFolder(_ folder: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw FileError(path: folder, operation: "create")
        }
    }

    /// Trains until the last step, the time limit, or until `shouldStop` says so; the state is
    /// saved then.
    ///
    /// - Parameter end: the step after which to pause; the last one if nil.
    /// - Throws: ``TrainingError`` when a number is no longer finite; `last.h5` stays as it was.
    package func run(
        until end: Int? = nil, shouldStop: () -> Bool = { false }
    ) throws -> TrainingOutcome {
        let lastStep = min(end ?? configuration.steps, configuration.steps)
        let deadline = configuration.timeLimit.map { ContinuousClock.now + .seconds($0 * 60) }
        let loader = BatchLoader(
            source, steps: trainer.step..<max(lastStep, trainer.step),
            threads: configuration.data.loaderThreads)
        defer { loader.stop() }
        while trainer.step < lastStep {
            if shouldStop() { return try finish(.interrupted) }
            if let deadline, ContinuousClock.now >= deadline {
                return try finish(.timeLimit, validates: true, shouldStop)
            }
            try advance(loader)
            if isDue(configuration.validateEvery) { try validate(shouldStop) }
            if isDue(configuration.saveEvery) { try save() }
            if let patience = configuration.patience, trainer.validationsSinceBest >= patience {
                return try finish(.noProgress)
            }
        }
        return try finish(.finished, validates: !isDue(configuration.validateEvery), shouldStop)
    }

    /// The network, module by module, on one crop.
    package var summary: NetworkSummary {
        get throws {
            let side = configuration.data.crop
            return NetworkSummary(of: try checkpoint.makeColorizer(), input: [1, 1, side, side])
        }
    }

    /// Bytes that a step works on: weights, gradients, the optimizer's state, activations.
    package var stepBytes: Int { step.bytes }

    private func isDue(_ every: Int) -> Bool {
        trainer.step > state.stepsBefore && trainer.step.isMultiple(of: every)
    }

    private func finish(
        _ outcome: TrainingOutcome, validates: Bool = false,
        _ shouldStop: () -> Bool = { false }
    ) throws -> TrainingOutcome {
        if validates, trainer.step > state.stepsBefore { try validate(shouldStop) }
        try save()
        return outcome
    }

    private func advance(_ loader: BatchLoader) throws {
        let clock = ContinuousClock()
        let began = clock.now
        let batch = try loader.take()
        let loaded = clock.now
        let settings = configuration.settings(at: trainer.step, groups)
        let result = try step.run(batch, settings)
        try noteSkip(result, batch, settings)
        trainer.step += 1
        meter.add(result, waiting: loaded - began, total: clock.now - began)
        report(.step(trainer.step, loss: Double(result.loss)))
        reportBadPhotos()
        if isDue(configuration.logEvery) { try logTraining() }
    }

    /// Takes a step at a rate of its own, which no record keeps.
    ///
    /// - Returns: its loss.
    func trial(step number: Int, rate: Double) throws -> Double {
        let settings = TrainingStep.Settings(
            learningRates: groups.map { rate * $0.rate }, averageDecay: 0,
            teacherShare: configuration.teacherShare(at: number), applies: true)
        let result = try step.run(try source.batch(step: number), settings)
        report(.step(number + 1, loss: Double(result.loss)))
        return Double(result.loss)
    }

    /// Takes one step and validates once, without keeping anything.
    ///
    /// - Returns: how long a step takes, and how long a validation; nil without photos for it.
    package func rehearse() throws -> (step: Duration, validation: Duration?) {
        let clock = ContinuousClock()
        // The first step also lays out memory.
        _ = try trial(step: 0, rate: 0)
        let step = try clock.measure { _ = try trial(step: 1, rate: 0) }
        guard let validator else { return (step, nil) }
        return (
            step, try clock.measure { _ = try validator.measure(validatedWeights()) { false } }
        )
    }

    /// Steps in a row that may change nothing because their numbers are not finite.
    private static let mostSkips = 10

    /// - Throws: ``TrainingError`` after ten in a row; at the first one if anomalies are searched.
    private func noteSkip(
        _ result: TrainingStep.Result, _ batch: Batch, _ settings: TrainingStep.Settings
    ) throws {
        guard !result.isFinite else {
            skipsInARow = 0
            return
        }
        skipsInARow += 1
        let what = result.loss.isFinite ? "gradient" : "loss"
        let number = "step \(trainer.step + 1): the \(what) is not a finite number"
        guard configuration.anomaly || skipsInARow >= Self.mostSkips else {
            return report(.note("\(number); nothing is learned from it"))
        }
        let first = try step.firstNonFinite(batch, settings)
        throw TrainingError(
            .notFinite,
            "\(number)\(skipsInARow > 1 ? ", as in the \(skipsInARow - 1) before" : ""); "
                + "the first such result is of \(first ?? "the optimizer"). Nothing was saved "
                + "since. The learning rate was \(settings.learningRates.last ?? 0): lower "
                + "optimizer.learning_rate, or set optimizer.clip_grad_norm or "
                + "schedule.warmup_steps, and resume")
    }

    private var skipsInARow = 0

    private func reportBadPhotos() {
        let bad = source.photos.badPhotos
        guard bad.count > reportedBadPhotos else { return }
        for photo in bad where announced.insert(photo.file).inserted {
            report(.badPhoto("\(photo)"))
        }
        reportedBadPhotos = bad.count
    }

    private var announced: Set<String> = []

    // MARK: Measures

    private func record(_ kind: String) -> MetricsRecord {
        MetricsRecord(kind: kind, step: trainer.step, epoch: trainer.step / source.epochSteps)
    }

    private func logTraining() throws {
        var record = record("train")
        meter.fill(&record, batch: configuration.batch)
        record.learningRate = configuration.learningRate(at: trainer.step - 1)
        meter = Meter()
        for sink in sinks { try sink.append(record) }
        report(.metrics(record))
    }

    private func validate(_ shouldStop: () -> Bool) throws {
        guard let validator else { return }
        let weights = validatedWeights()
        guard let metrics = try validator.measure(weights, shouldStop: shouldStop) else { return }
        guard metrics.loss.isFinite else {
            throw TrainingError(
                .notFinite,
                "step \(trainer.step): the validation loss is no longer a finite number; nothing "
                    + "was saved since. Lower optimizer.learning_rate and resume")
        }
        var record = record("validation")
        record.validation = metrics
        for sink in sinks { try sink.append(record) }
        report(.metrics(record))
        try show(validator.samples, weights)
        guard metrics.loss < trainer.bestLoss ?? .infinity else {
            trainer.sinceBest = trainer.validationsSinceBest + 1
            return
        }
        (trainer.bestLoss, trainer.sinceBest) = (metrics.loss, 0)
        try saveBest(weights)
    }

    private func show(_ samples: [Sample], _ weights: [String: TensorData]) throws {
        let parameters = Set(step.parameterNames)
        let learned = weights.filter { parameters.contains($0.key) }.mapValues(\.scalars)
        for sink in sinks { try sink.append(samples, weights: learned, step: trainer.step) }
    }
}

/// What happened since the last record.
private struct Meter {
    private var (steps, loss, norm, skipped) = (0, 0.0, 0.0, 0)
    private var (waiting, total) = (Duration.zero, Duration.zero)

    mutating func add(_ result: TrainingStep.Result, waiting: Duration, total: Duration) {
        if result.isFinite {
            steps += 1
            loss += Double(result.loss)
            norm += Double(result.gradientNorm)
        } else {
            skipped += 1
        }
        self.waiting += waiting
        self.total += total
    }

    func fill(_ record: inout MetricsRecord, batch: Int) {
        if steps > 0 {
            record.loss = loss / Double(steps)
            record.gradientNorm = norm / Double(steps)
        }
        if skipped > 0 { record.skippedSteps = skipped }
        record.imagesPerSecond = Double((steps + skipped) * batch) / (total / .seconds(1))
        record.waitingShare = waiting / total
    }
}

extension TrainingConfiguration {
    /// The learning rate of a step, counted from 0.
    func learningRate(at step: Int) -> Double {
        optimizer.learningRate * schedule.share(at: step, of: steps)
    }

    func settings(at step: Int, _ groups: [ParameterGroupRule]) -> TrainingStep.Settings {
        TrainingStep.Settings(
            learningRates: groups.map {
                optimizer.learningRate * $0.rate * $0.schedule.share(at: step, of: steps)
            },
            averageDecay: averageDecay(at: step), teacherShare: teacherShare(at: step),
            applies: (step + 1).isMultiple(of: accumulate))
    }

    /// How much of the loss compares with the teacher at a step, counted from 0.
    func teacherShare(at step: Int) -> Double {
        let (first, last) = (
            distillation.weight, distillation.finalWeight ?? distillation.weight
        )
        return first + (last - first) * Double(step) / Double(max(steps - 1, 1))
    }

    /// The averages' decay at a step, counted from 0: small at first, or they would remember
    /// the untrained network for long (TensorFlow's `num_updates`, timm's `use_warmup`).
    func averageDecay(at step: Int) -> Double {
        min(optimizer.ema ?? 0, Double(1 + step) / Double(10 + step))
    }
}
