import Retint
import Synchronization

/// Shows the progress of an evaluation, and collects the photos that cannot be read.
final class EvaluationDisplay: Sendable {
    private struct State {
        var bar: ProgressBar?
        var failures = Failures()

        mutating func update(_ label: String, _ count: Int, of total: Int) {
            let bar = bar ?? ProgressBar(label, total: total, unit: "photos")
            bar.update(count)
            if count == total { bar.finish() }
            self.bar = count == total ? nil : bar
        }
    }

    private let state = Mutex(State())
    private let place = CommandPlace()

    /// - Parameter label: the label of the progress bar.
    func show(_ progress: EvaluationReport.Progress, label: String = "evaluate") {
        place.run { showHere(progress, label) }
    }

    private func showHere(_ progress: EvaluationReport.Progress, _ label: String) {
        state.withLock { state in
            switch progress {
            case .read(let count, let total): state.update("read", count, of: total)
            case .colored(let count, let total): state.update(label, count, of: total)
            case .failed(let failure):
                state.bar?.clear()
                state.failures.add(failure.error)
            }
        }
    }

    /// Ends the command with an error if photos could not be read.
    func finish(of total: Int) throws {
        let failures = state.withLock { $0.failures }
        try failures.finish(of: total, "photos", "evaluated")
    }
}
