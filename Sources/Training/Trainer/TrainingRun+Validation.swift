import TensorGraph

extension TrainingRun {
    /// Writes and reports the means over the steps since the last record.
    func logTraining() throws {
        var record = record("train")
        meter.fill(&record, batch: configuration.batch)
        record.learningRate = configuration.learningRate(at: progress.step - 1)
        meter = StepMeter()
        try publish(record)
    }

    /// Measures the weights on the validation photos; keeps them as `best.h5` if their loss is the
    /// lowest so far.
    func validate(_ shouldStop: () -> Bool) throws {
        guard let validator else { return }
        let weights = validatedWeights()
        // A run that is stopped meanwhile validates when it is resumed.
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
        MetricsRecord(kind: kind, step: progress.step, epoch: progress.step / source.epochSteps)
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

/// Sums over the steps since the last record. A run that is resumed counts on.
struct StepMeter: Hashable, Sendable, Codable {
    private var (steps, skipped) = (0, 0)
    private var (loss, norm) = (0.0, 0.0)
    /// Seconds.
    private var (waiting, total) = (0.0, 0.0)

    /// Whether the counts are those of steps that were taken.
    var isValid: Bool { [steps, skipped].allSatisfy((0...1 << 40).contains) }

    mutating func add(_ result: TrainingStep.Result, waiting: Duration, total: Duration) {
        if result.isFinite {
            steps += 1
            loss += Double(result.loss)
            norm += Double(result.gradientNorm)
        } else {
            skipped += 1
        }
        self.waiting += waiting / .seconds(1)
        self.total += total / .seconds(1)
    }

    /// - Parameter batch: the images of a step.
    func fill(_ record: inout MetricsRecord, batch: Int) {
        if steps > 0 {
            record.loss = loss / Double(steps)
            record.gradientNorm = norm / Double(steps)
        }
        if skipped > 0 { record.skippedSteps = skipped }
        guard total > 0 else { return }
        record.imagesPerSecond = Double(steps + skipped) * Double(batch) / total
        record.waitingShare = waiting / total
    }
}
