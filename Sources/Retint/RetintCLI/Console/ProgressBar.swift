import Retint

/// Shows the progress of a long task with its rate and the time left: a bar that is redrawn on a
/// terminal, a line every 30 seconds elsewhere.
final class ProgressBar {
    private let label: String
    private let unit: String
    private let total: Int
    private let start: Int
    private let isTerminal: Bool
    /// Progress is often shown by other threads than that of the command.
    private let output = CommandOutput.current
    private let clock = ContinuousClock()
    private let began: ContinuousClock.Instant
    private var lastShown: ContinuousClock.Instant?
    private var isDrawn = false

    /// - Parameters:
    ///   - label: the task, such as "training".
    ///   - total: the count at the end; 0 if it is unknown.
    ///   - unit: the counted items, in the plural: "steps", "images".
    ///   - start: the count at which a resumed task starts; the rate excludes it.
    init(
        _ label: String, total: Int, unit: String, start: Int = 0,
        isTerminal: Bool = Console.isTerminal
    ) {
        self.label = label
        self.unit = unit
        self.total = total
        self.start = start
        self.isTerminal = isTerminal
        began = clock.now
        // Without a terminal, a short task prints only its last line.
        if !isTerminal { lastShown = began }
    }

    deinit { finish() }

    /// Shows the count, at most ten times per second on a terminal.
    ///
    /// - Parameters:
    ///   - excluded: how many of the count took no work, such as photos that are skipped.
    ///   - note: text at the end of the line, such as "loss 0.0123".
    func update(_ count: Int, excluding excluded: Int = 0, note: String = "") {
        let now = clock.now
        let interval: Duration = isTerminal ? .milliseconds(100) : .seconds(30)
        if let lastShown, now - lastShown < interval, count < total || total == 0 { return }
        lastShown = now
        let text = Self.line(
            label: label, count: count, total: total, start: start + excluded, unit: unit,
            seconds: (now - began) / .seconds(1), note: note)
        show(text, count)
    }

    /// Ends the bar's line, which stays on the terminal.
    func finish() {
        if isDrawn { Console.draw("\n") }
        isDrawn = false
    }

    /// Erases the bar so that a message can use its line; the next update redraws it.
    func clear() {
        guard isDrawn else { return }
        Console.draw("\r\u{1b}[K")
        isDrawn = false
        lastShown = nil
    }

    private func show(_ text: String, _ count: Int) {
        if let output { return output.add(message: text.asMessage) }
        guard isTerminal else { return Console.note(text) }
        let width = max(10, min(30, Console.columns - text.count - 4))
        let bar = total > 0 ? Self.bar(count, total, width: width) + " " : ""
        let line = bar + text
        Console.draw("\r\(line.prefix(Console.columns - 1))\u{1b}[K")
        isDrawn = true
    }

    /// `training: 128/1000 images, 12.5 images/s, 1:10 left, loss 0.0123`.
    static func line(
        label: String, count: Int, total: Int, start: Int = 0, unit: String, seconds: Double,
        note: String
    ) -> String {
        var parts = [total > 0 ? "\(count)/\(total) \(unit)" : "\(count) \(unit)"]
        if count > start, seconds > 0 {
            let rate = Double(count - start) / seconds
            parts.append("\(Format.fixed(rate, rate < 10 ? 2 : 1)) \(unit)/s")
            if count < total {
                parts.append("\(Format.duration(Double(total - count) / rate)) left")
            }
        }
        if !note.isEmpty { parts.append(note) }
        return "\(label): \(parts.joined(separator: ", "))"
    }

    /// `[#####-----]`.
    static func bar(_ count: Int, _ total: Int, width: Int) -> String {
        let share = total > 0 ? min(max(Double(count) / Double(total), 0), 1) : 1
        let filled = Int(share * Double(width))
        return "[" + String(repeating: "#", count: filled)
            + String(repeating: "-", count: width - filled) + "]"
    }
}
