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
        step = try TrainingStep(network, configuration, weights: checkpoint.variables)
        source = BatchSource(photos.training, configuration)
        validator =
            photos.validation.isEmpty
            ? nil : try Validator(network, configuration, photos: photos.validation)
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
        guard configuration.tensorboard else { return [log] }
        return [log, try TensorBoardLog(folder: folder, resumingAt: step)]
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
    /// - Throws: ``TrainingError`` when a number is no longer finite; `last.h5` stays as it was.
    package func run(shouldStop: () -> Bool = { false }) throws -> TrainingOutcome {
        let deadline = configuration.timeLimit.map { ContinuousClock.now + .seconds($0 * 60) }
        let loader = BatchLoader(
            source, steps: trainer.step..<max(configuration.steps, trainer.step),
            threads: configuration.data.loaderThreads)
        defer { loader.stop() }
        while trainer.step < configuration.steps {
            if shouldStop() { return try end(.interrupted) }
            if let deadline, ContinuousClock.now >= deadline {
                return try end(.timeLimit, validates: true, shouldStop)
            }
            try advance(loader)
            if isDue(configuration.validateEvery) { try validate(shouldStop) }
            if isDue(configuration.saveEvery) { try save() }
        }
        return try end(.finished, validates: !isDue(configuration.validateEvery), shouldStop)
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

    private func end(
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
        let rate = configuration.learningRate(at: trainer.step)
        let result = try step.run(
            batch, learningRate: rate,
            averageDecay: configuration.averageDecay(at: trainer.step),
            teacherShare: configuration.teacherShare(at: trainer.step))
        try requireFinite(result, rate: rate)
        trainer.step += 1
        meter.add(result, waiting: loaded - began, total: clock.now - began)
        report(.step(trainer.step, loss: Double(result.loss)))
        reportBadPhotos()
        if isDue(configuration.logEvery) { try logTraining(rate: rate) }
    }

    private func requireFinite(_ result: TrainingStep.Result, rate: Double) throws {
        guard !result.loss.isFinite || !result.gradientNorm.isFinite else { return }
        let what = result.loss.isFinite ? "gradient" : "loss"
        throw TrainingError(
            .notFinite,
            "step \(trainer.step + 1): the \(what) is no longer a finite number; nothing was "
                + "saved since. The learning rate was \(rate): lower optimizer.learning_rate, or "
                + "set optimizer.clip_grad_norm or schedule.warmup_steps, and resume")
    }

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

    private func logTraining(rate: Double) throws {
        var record = record("train")
        meter.fill(&record, batch: configuration.batch)
        record.learningRate = rate
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
        guard metrics.loss < trainer.bestLoss ?? .infinity else { return }
        trainer.bestLoss = metrics.loss
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
    private var (steps, loss, norm) = (0, 0.0, 0.0)
    private var (waiting, total) = (Duration.zero, Duration.zero)

    mutating func add(_ result: TrainingStep.Result, waiting: Duration, total: Duration) {
        steps += 1
        loss += Double(result.loss)
        norm += Double(result.gradientNorm)
        self.waiting += waiting
        self.total += total
    }

    func fill(_ record: inout MetricsRecord, batch: Int) {
        record.loss = loss / Double(steps)
        record.gradientNorm = norm / Double(steps)
        record.imagesPerSecond = Double(steps * batch) / (total / .seconds(1))
        record.waitingShare = waiting / total
    }
}

extension TrainingConfiguration {
    /// The learning rate of a step, counted from 0.
    func learningRate(at step: Int) -> Double {
        optimizer.learningRate * schedule.share(at: step, of: steps)
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
