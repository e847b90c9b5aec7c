/// The values that change from step to step.
struct StepSchedule {
    let optimizer: TrainingConfiguration.OptimizerSettings
    let schedule: TrainingConfiguration.ScheduleSettings
    /// The groups of parameters, each with its schedule; the last one is of all that no other
    /// matches.
    let groups: [ParameterGroupRule]
    let distillation: TrainingConfiguration.DistillationSettings
    /// Of the whole training.
    let steps: Int
    /// Steps whose gradients are averaged before weights change.
    let accumulate: Int

    /// - Parameters:
    ///   - step: counted from 0.
    ///   - elapsed: the share of the time limit that has passed; 0 without one.
    func settings(at step: Int, elapsed: Double) -> TrainingStep.Settings {
        TrainingStep.Settings(
            learningRates: groups.map {
                optimizer.learningRate * $0.rate
                    * $0.schedule.share(at: step, of: steps, elapsed: elapsed)
            },
            averageDecay: averageDecay(at: step),
            teacherShare: distillation.share(at: step, of: steps, elapsed: elapsed),
            applies: (step + 1).isMultiple(of: accumulate))
    }

    /// As ``settings(at:elapsed:)``, at a given learning rate and without averages, for a step on
    /// trial.
    func settings(at step: Int, rate: Double) -> TrainingStep.Settings {
        TrainingStep.Settings(
            learningRates: groups.map { rate * $0.rate }, averageDecay: 0,
            teacherShare: distillation.share(at: step, of: steps), applies: true)
    }

    /// The learning rate of a step, counted from 0. See ``settings(at:elapsed:)``.
    func learningRate(at step: Int, elapsed: Double) -> Double {
        optimizer.learningRate * schedule.share(at: step, of: steps, elapsed: elapsed)
    }

    /// The decay of averaged weights at a step, counted from 0: small at first, because otherwise
    /// the initial weights would dominate the averages for long (TensorFlow's `num_updates`, timm's
    /// `use_warmup`).
    private func averageDecay(at step: Int) -> Double {
        min(optimizer.ema ?? 0, Double(1 + step) / Double(10 + step))
    }
}
