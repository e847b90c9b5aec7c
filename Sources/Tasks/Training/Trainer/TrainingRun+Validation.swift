import RetintDistributed
import RetintGraph
import RetintTensors

extension TrainingRun {
    /// Writes and reports the means over the steps since the last record.
    func logTraining() throws {
        try reportBadPhotosOfAll()
        var record = record("train")
        try meter.fill(&record, batch: configuration.batch, ranks)
        record.learningRate = configuration.learningRate(at: progress.step - 1)
        meter = StepMeter()
        try publish(record)
    }

    /// Measures the weights on the validation photos; keeps them as `best.h5` if their loss is the
    /// lowest so far.
    func validate(_ shouldStop: () -> Bool) throws {
        guard let validator else { return }
        let weights = try validatedWeights()
        // A run that is stopped during this validates when it is resumed.
        progress.isValidationDue = true
        guard let metrics = try validator.measure(weights, shouldStop: shouldStop) else { return }
        guard metrics.loss.isFinite else {
            throw TrainingError(
                .notFinite,
                "step \(progress.step): the validation loss is not finite; nothing was saved "
                    + "since. Lower optimizer.learning_rate and resume")
        }
        var record = record("validation")
        record.validation = metrics
        try publish(record)
        try publish(validator.samples, weights)
        progress.isValidationDue = nil
        guard metrics.loss < progress.bestLoss ?? .infinity else {
            progress.sinceBest = progress.validationsSinceBest + 1
            return
        }
        (progress.bestLoss, progress.sinceBest) = (metrics.loss, 0)
        try saveBest(weights)
    }

    private func record(_ kind: String) -> MetricsRecord {
        MetricsRecord(
            kind: kind, step: progress.step, epoch: source.epoch(afterSteps: progress.step))
    }

    private func publish(_ record: MetricsRecord) throws {
        for sink in sinks { try sink.append(record) }
        report(.metrics(record))
    }

    private func publish(_ samples: [ValidationSample], _ weights: [String: TensorData]) throws {
        let parameters = Set(step.parameterNames)
        let learned = weights.filter { parameters.contains($0.key) }.mapValues(\.scalars)
        for sink in sinks { try sink.append(samples, weights: learned, step: progress.step) }
    }
}

/// Sums over the steps since the last record. A resumed run continues them.
struct StepMeter: Hashable, Sendable, Codable {
    private var (steps, skipped) = (0, 0)
    private var (loss, norm) = (0.0, 0.0)
    /// Seconds.
    private var (waiting, total) = (0.0, 0.0)
    /// The part spent waiting for other ranks; nil in runs from before this was counted.
    private var communicating: Double?

    /// Whether the counts are valid.
    var isValid: Bool { [steps, skipped].allSatisfy((0...1 << 40).contains) }

    mutating func add(
        _ result: TrainingStep.Result, waiting: Duration, communicating: Duration, total: Duration
    ) {
        if result.isFinite {
            steps += 1
            loss += Double(result.loss)
            norm += Double(result.gradientNorm)
        } else {
            skipped += 1
        }
        self.waiting += waiting / .seconds(1)
        self.communicating = (self.communicating ?? 0) + communicating / .seconds(1)
        self.total += total / .seconds(1)
    }

    /// - Parameters:
    ///   - batch: the number of images per step.
    ///   - ranks: the ranks that all do this at the same time.
    func fill(_ record: inout MetricsRecord, batch: Int, _ ranks: Communicator) throws {
        if steps > 0 {
            record.loss = loss / Double(steps)
            record.gradientNorm = norm / Double(steps)
        }
        if skipped > 0 { record.skippedSteps = skipped }
        // The resumed run may have had another number of ranks.
        let all = try ranks.gather(numbers: [waiting, communicating ?? 0, total])
        guard all.allSatisfy({ $0[2] > 0 }) else { return }
        record.imagesPerSecond = Double(steps + skipped) * Double(batch) / total
        record.waitingShare = all.reduce(0) { $0 + $1[0] / $1[2] } / Double(all.count)
        if ranks.size > 1 { record.communicationShares = all.map { $0[1] / $0[2] } }
    }
}
