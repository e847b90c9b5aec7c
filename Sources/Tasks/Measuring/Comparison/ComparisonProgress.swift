extension ModelComparison {
    /// The progress of a comparison. Counts begin with 0.
    public enum Progress: Sendable {
        /// The number of models whose size was measured.
        case sized(models: Int, total: Int)
        /// The number of finished rounds of timing.
        case timed(rounds: Int, total: Int)
        /// The photos are being read, or a model colors them; the model's name is nil while they
        /// are read.
        case evaluating(model: String?, EvaluationReport.Progress)
    }
}
