/// How long training takes, from two steps for each side of crops and one validation.
public struct TrainingRehearsal: Sendable {
    /// The network, the photos and the memory that a step takes.
    public let overview: TrainingOverview
    /// The mean duration of a step.
    public let step: Duration
    /// The duration of a validation; nil without validation photos.
    public let validation: Duration?
    /// The estimated duration of the whole training, validations included.
    public let total: Duration

    init(_ run: TrainingRun, step: Duration, validation: Duration?) {
        (overview, self.step, self.validation) = (run.overview, step, validation)
        let steps = Double(run.configuration.steps)
        let validations = (steps / Double(run.configuration.validateEvery)).rounded(.up)
        total = step * steps + (validation ?? .zero) * validations
    }
}
