import Glibc
import TensorGraph

/// Parameters with a rate of their own, as `optimizer.groups` names them:
/// `"stem.*: rate=0.1 decay=0; head.*: rate=2 schedule=constant warmup=0"`.
struct ParameterGroupRule: Hashable, Sendable {
    /// With `*` for any characters.
    let pattern: String
    /// A factor for the learning rate.
    var rate = 1.0
    /// In place of `optimizer.weight_decay`.
    var weightDecay: Double?
    /// In place of the training's schedule.
    var schedule: Schedule

    func fits(_ parameter: Tensor) -> Bool { fnmatch(pattern, parameter.variableName, 0) == 0 }

    /// The groups that a text lists; the first that fits a parameter takes it.
    ///
    /// - Throws: ``ConfigurationError`` for what cannot be read.
    static func list(
        _ text: String, schedule: Schedule
    ) throws(ConfigurationError) -> [ParameterGroupRule] {
        var rules: [ParameterGroupRule] = []
        for part in text.split(separator: ";") {
            rules.append(try rule(part, schedule))
        }
        return rules
    }

    private static func rule(
        _ text: Substring, _ schedule: Schedule
    ) throws(ConfigurationError) -> ParameterGroupRule {
        let halves = text.split(separator: ":", maxSplits: 1)
        guard halves.count == 2, let pattern = halves[0].split(separator: " ").first else {
            throw refused(text, "is not \"pattern: key=value …\"")
        }
        var rule = ParameterGroupRule(pattern: String(pattern), schedule: schedule)
        for setting in halves[1].split(separator: " ") {
            let pair = setting.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, rule.set(pair[0], pair[1]) else {
                throw refused(
                    setting,
                    "is none of rate=<number>, decay=<number>, warmup=<steps> and "
                        + "schedule=\(Schedule.Kind.allCases.map(\.rawValue).joined(separator: "|"))"
                )
            }
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

    private static func refused(_ text: Substring, _ problem: String) -> ConfigurationError {
        ConfigurationError("optimizer.groups", "\(String(text).debugDescription) \(problem)")
    }
}
