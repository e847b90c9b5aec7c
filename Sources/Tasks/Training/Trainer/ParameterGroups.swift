import Glibc
import RetintGraph
import RetintTensors

/// A shell pattern for names of parameters, with `*` for any characters.
struct ParameterPattern: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    /// The patterns in a text, separated by spaces or commas.
    static func list(_ text: some StringProtocol) -> [ParameterPattern] {
        text.split(whereSeparator: { " ,".contains($0) }).map { ParameterPattern(String($0)) }
    }

    func matches(_ parameter: Tensor) -> Bool { fnmatch(text, parameter.variableName, 0) == 0 }
}

extension [ParameterPattern] {
    /// Whether one of them matches.
    func matches(_ parameter: Tensor) -> Bool { contains { $0.matches(parameter) } }
}

/// A group of parameters with its own settings, as `optimizer.groups` lists them:
/// `"stem.* stage2.*: rate=0.1 decay=0; head.*: rate=2 schedule=constant warmup=0"`.
struct ParameterGroupRule: Hashable, Sendable {
    let patterns: [ParameterPattern]
    private typealias Schedule = TrainingConfiguration.ScheduleSettings

    /// A factor for the learning rate.
    var rate = 1.0
    /// Replaces `optimizer.weight_decay`.
    var weightDecay: Double?
    /// Replaces the training's schedule.
    var schedule: TrainingConfiguration.ScheduleSettings

    /// The groups listed in a text; a parameter belongs to the first one that matches it.
    ///
    /// - Throws: ``TrainingError`` if the text is malformed.
    static func list(
        _ text: String, schedule: TrainingConfiguration.ScheduleSettings
    ) throws(TrainingError) -> [ParameterGroupRule] {
        var rules: [ParameterGroupRule] = []
        for part in text.split(separator: ";") {
            rules.append(try rule(part, schedule))
        }
        return rules
    }

    private static func rule(
        _ text: Substring, _ schedule: TrainingConfiguration.ScheduleSettings
    ) throws(TrainingError) -> ParameterGroupRule {
        let halves = text.split(separator: ":", maxSplits: 1)
        let patterns = halves.count == 2 ? ParameterPattern.list(halves[0]) : []
        guard !patterns.isEmpty else { throw refused(text, "is not \"pattern: key=value …\"") }
        var rule = ParameterGroupRule(patterns: patterns, schedule: schedule)
        for setting in halves[1].split(separator: " ") {
            let pair = setting.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, rule.set(pair[0], pair[1]) else {
                let schedules = Schedule.Kind.allCases.map(\.rawValue).joined(separator: "|")
                throw refused(
                    setting,
                    "is not rate=<number>, decay=<number>, warmup=<steps> or "
                        + "schedule=\(schedules)")
            }
        }
        guard !rule.schedule.risesTwice else {
            throw refused(
                text,
                "has a warmup of \(rule.schedule.warmupSteps) steps, and one-cycle has a rise of "
                    + "its own; set warmup=0")
        }
        return rule
    }

    private mutating func set(_ key: String, _ text: String) -> Bool {
        switch key {
        case "rate":
            guard let value = Double(text), (0...1e6).contains(value) else { return false }
            rate = value
        case "decay":
            guard let value = Double(text), (0...10).contains(value) else { return false }
            weightDecay = value
        case "warmup":
            guard let value = Int(text), value >= 0 else { return false }
            schedule.warmupSteps = value
        case "schedule":
            guard let kind = Schedule.Kind(rawValue: text) else { return false }
            schedule.kind = kind
        default: return false
        }
        return true
    }

    private static func refused(_ text: Substring, _ problem: String) -> TrainingError {
        TrainingError(at: "optimizer.groups", "\(String(text).debugDescription) \(problem)")
    }
}
