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

/// Sums over the steps since the last record.
struct StepMeter {
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

    /// - Parameter batch: the images of a step.
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
