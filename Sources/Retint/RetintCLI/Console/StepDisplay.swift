import Synchronization

/// Shows the progress of consecutive tasks, each with its own bar.
final class StepDisplay: Sendable {
    private let bar = Mutex<ProgressBar?>(nil)
    private let place = CommandPlace()

    /// Shows a task's count; the bar ends with the last one.
    func update(_ label: String, _ count: Int, of total: Int, unit: String) {
        bar.withLock { bar in
            let current = bar ?? place.run { ProgressBar(label, total: total, unit: unit) }
            current.update(count)
            if count == total { current.finish() }
            bar = count == total ? nil : current
        }
    }
}
