import Retint

extension PlacementReport {
    /// The report as text: a table of the rules with findings, then the findings of each.
    var lines: [String] {
        var table = TextTable(
            header: ["rule", "count", "consequence", "certainty"], rightAligned: [1])
        for outcome in broken { table.append(outcome.row) }
        let rest = rules.count - broken.count
        return ["", "Neural Engine: \(notice)", summary] + (broken.isEmpty ? [] : table.lines)
            + ["\(rest) other rules have no findings"] + broken.flatMap(details)
    }

    /// The rules with findings.
    var broken: [Outcome] { rules.filter { $0.count > 0 } }

    /// How many operations the rules name.
    var summary: String {
        "rules name \(namedOperations) of \(operations) operations; uncontradicted rules declare "
            + "\(refusedOperations) of them refused, \(wrongOperations) at risk of wrong numbers"
    }

    /// The number of findings listed per rule; JSON has all.
    private static let shownFindings = 6

    private func details(_ outcome: Outcome) -> [String] {
        let rule = outcome.rule
        let own = findings.filter { $0.rule == rule.id }
        let shown = own.prefix(Self.shownFindings).map { "  \($0.name) (\($0.type)) \($0.detail)" }
        let more = own.count - shown.count
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
