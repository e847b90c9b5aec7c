import Retint
import Synchronization

/// Shows the progress of a comparison.
final class ComparisonDisplay: Sendable {
    private let evaluation = EvaluationDisplay()
    private let bar = Mutex<ProgressBar?>(nil)

    func show(_ progress: ComparisonProgress) {
        switch progress {
        case .sized(let count, let total): update("export", count, of: total, unit: "models")
        case .timed(let count, let total): update("time", count, of: total, unit: "rounds")
        case .evaluating(let model, let progress):
            evaluation.show(progress, label: model.map { "evaluate \($0)" } ?? "read")
        }
    }

    private func update(_ label: String, _ count: Int, of total: Int, unit: String) {
        bar.withLock { bar in
            let current = bar ?? ProgressBar(label, total: total, unit: unit)
            current.update(count)
            if count == total { current.finish() }
            bar = count == total ? nil : current
        }
    }

    /// Ends the command with an error if photos could not be read.
    func finish(of photos: Int) throws { try evaluation.finish(of: photos) }
}
