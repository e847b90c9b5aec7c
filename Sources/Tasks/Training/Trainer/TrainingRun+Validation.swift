import RetintDistributed
import RetintGraph
import RetintTensors

extension TrainingRun {
    /// Writes and reports the means over the steps since the last record.
    func logTraining() throws {
        try log.reportNewlyBadOfAll(source.photos.badPhotos)
        var record = record("train")
        try state.meter.fill(&record, batch: configuration.batch, ranks)
        record.learningRate = schedule.learningRate(
            at: state.progress.step - 1, elapsed: elapsed)
        state.meter = StepMeter()
        try log.append(record)
    }

    /// Measures the weights on the validation photos; keeps them as `best.h5` if their loss is the
    /// lowest so far.
    func validate(_ shouldStop: () -> Bool) throws {
        guard let validator else { return }
        let weights = try state.validatedWeights()
        // A run that is stopped during this validates when it is resumed.
        state.progress.isValidationDue = true
        guard let metrics = try validator.measure(weights, shouldStop: shouldStop) else { return }
        let step = state.progress.step
        guard metrics.loss.isFinite else {
            throw TrainingError(
                .notFinite,
                "step \(step): the validation loss is not finite; "
                    + wayOut("lower optimizer.learning_rate"))
        }
        var progress = state.progress
        let isBest = progress.validated(metrics.loss)
        if isBest, ranks.rank == 0 {
            try folder.write(state.network(of: weights), to: folder.best, step: step)
        }
        state.progress = progress
        var record = record("validation")
        record.validation = metrics
        try log.append(record)
        let learned = Set(state.step.parameterNames.filter { !Discriminator.names(variable: $0) })
        try log.append(
            validator.samples, weights: weights.filter { learned.contains($0.key) }, step: step)
    }

    private func record(_ kind: String) -> MetricsRecord {
        let step = state.progress.step
        return MetricsRecord(kind: kind, step: step, epoch: source.epoch(afterSteps: step))
    }
}
