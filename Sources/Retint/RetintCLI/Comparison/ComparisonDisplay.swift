import Retint

/// Shows the progress of a comparison.
final class ComparisonDisplay: Sendable {
    private let evaluation = EvaluationDisplay()
    private let steps = StepDisplay()

    func show(_ progress: ModelComparison.Progress) {
        switch progress {
        case .sized(let count, let total):
            steps.update("export", count, of: total, unit: "models")
        case .timed(let count, let total):
            steps.update("time", count, of: total, unit: "rounds")
        case .evaluating(let model, let progress):
            evaluation.show(progress, label: model.map { "evaluate \($0)" } ?? "read")
        }
    }

    /// Ends the command with an error if photos could not be read.
    func finish(of photos: Int) throws { try evaluation.finish(of: photos) }
}
