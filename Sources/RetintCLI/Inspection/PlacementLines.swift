import Retint

extension PlacementReport {
    /// The report for people: a table of the rules that name something, then each with its places.
    var lines: [String] {
        var table = TextTable(
            header: ["rule", "count", "consequence", "how sure"], rightAligned: [1])
        for outcome in named { table.append(outcome.row) }
        let rest = rules.count - named.count
        return ["", "Neural Engine: \(notice)", summary] + (named.isEmpty ? [] : table.lines)
            + ["\(rest) other rules name nothing"] + named.flatMap(details)
    }

    private var named: [Outcome] { rules.filter { $0.count > 0 } }

    private var summary: String {
        "\(namedOperations) of \(operations) operations are named, \(refusedOperations) of them as "
            + "refused by a rule that nobody contradicts"
    }

    /// Places listed under a rule; JSON has all.
    private static let shownPlaces = 6

    private func details(_ outcome: Outcome) -> [String] {
        let rule = outcome.rule
        let places = findings.filter { $0.rule == rule.id }
        let shown = places.prefix(Self.shownPlaces).map { "  \($0.name) (\($0.type)) \($0.detail)" }
        let more = places.count - shown.count
        return ["", "\(rule.id): \(rule.subject), \(rule.threshold)"] + shown
            + (more > 0 ? ["  and \(more) more"] : [])
            + ["  advice: \(rule.advice)", "  source: \(rule.sources.joined(separator: "; "))"]
    }
}

extension PlacementReport.Outcome {
    fileprivate var row: [String] {
        [rule.id, "\(count)", rule.consequence.rawValue, rule.certainty.rawValue]
    }
}
