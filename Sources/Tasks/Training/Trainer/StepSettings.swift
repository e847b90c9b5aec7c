/// The values that change from step to step.
extension TrainingConfiguration {
    /// - Parameters:
    ///   - step: counted from 0.
    ///   - groups: the groups of parameters, each with its schedule.
    func settings(at step: Int, _ groups: [ParameterGroupRule]) -> TrainingStep.Settings {
        TrainingStep.Settings(
            learningRates: groups.map {
                optimizer.learningRate * $0.rate * $0.schedule.share(at: step, of: steps)
            },
            averageDecay: averageDecay(at: step), teacherShare: teacherShare(at: step),
            applies: (step + 1).isMultiple(of: accumulate))
    }

    /// The learning rate of a step, counted from 0.
    func learningRate(at step: Int) -> Double {
        optimizer.learningRate * schedule.share(at: step, of: steps)
    }

    /// The teacher's share of the loss at a step, counted from 0.
    func teacherShare(at step: Int) -> Double {
        let first = distillation.weight
        let last = distillation.finalWeight ?? first
        return first + (last - first) * Double(step) / Double(max(steps - 1, 1))
    }

    /// The decay of averaged weights at a step, counted from 0: small at first, because otherwise
    /// the initial weights would dominate the averages for long (TensorFlow's `num_updates`, timm's
    /// `use_warmup`).
    func averageDecay(at step: Int) -> Double {
        min(optimizer.ema ?? 0, Double(1 + step) / Double(10 + step))
    }
}
