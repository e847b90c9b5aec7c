import Retint

extension PlacementReport {
    /// The report as HTML: a table of the rules with findings; the findings of each can be
    /// expanded.
    var html: String {
        let table = HTMLPage.table(
            ["rule", "consequence", "certainty", "count"],
            broken.map {
                [
                    $0.rule.id, $0.rule.consequence.rawValue, $0.rule.certainty.rawValue,
                    "\($0.count)",
                ]
            })
        return """
            <p>These are \(notice.escapedForHTML). The \(summary.escapedForHTML).</p>
            \(broken.isEmpty ? "" : table)
            <p>\(rules.count - broken.count) other rules have no findings.</p>
            \(broken.map(htmlDetails).joined(separator: "\n"))
            """
    }

    private func htmlDetails(_ outcome: Outcome) -> String {
        let rule = outcome.rule
        let rows = findings.filter { $0.rule == rule.id }.map { [$0.name, $0.type, $0.detail] }
        return """
            <details><summary>\(rule.id.escapedForHTML): \(rule.subject.escapedForHTML), \
            \(rule.threshold.escapedForHTML)</summary>
            \(HTMLPage.table(["name", "operation", "finding"], rows))
            <p>Advice: \(rule.advice.escapedForHTML)</p>
            <p>Source: \(rule.sources.joined(separator: "; ").escapedForHTML)</p></details>
            """
    }
}
