import Foundation
import Retint

/// A performance report as an HTML page.
struct PerformancePage {
    private let report: PerformanceReport

    init(_ report: PerformanceReport) { self.report = report }

    /// The number of steps that the page lists for each model.
    private static let shownSteps = 15

    /// Writes the page, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    func write(to path: String) throws {
        let names = report.models.map(\.name.fileName)
        let page = HTMLPage(
            title: "performance of \(names.joined(separator: " against "))",
            style: Self.style,
            body: [head, plots, figures] + report.models.map(details) + [
                method, htmlEnvironment("\(report.machineText); arithmetic: float32"),
            ])
        try page.write(to: path)
    }

    /// Measurements in two columns where there is room.
    private static let style = """
        .figures { display: grid; gap: 14px 28px; align-items: start;
          grid-template-columns: repeat(auto-fill, minmax(min(100%, 460px), 1fr)); }
        .figures table { width: 100%; }
        .figures th { white-space: normal; overflow-wrap: anywhere; min-width: 44px; }
        .figures td:first-child { white-space: normal; }
        .figures td:last-child { white-space: nowrap; }
        .profile td.text { white-space: normal; overflow-wrap: anywhere; min-width: 80px; }
        .profile td:first-child { min-width: 130px; }
        .profile td:nth-child(3) { white-space: nowrap; }
        """

    private var head: String {
        let models = report.models.enumerated().map { index, model in
            """
            <h1>\(index > 0 ? "against " : "")\(model.name.fileName.escapedForHTML)</h1>
            <p>\(model.text.escapedForHTML)</p>
            <p><b>\(model.headline.escapedForHTML)</b></p>
            """
        }
        let warning = report.warning.map { "<p class=\"failures\">\($0.escapedForHTML)</p>" }
        return models.joined(separator: "\n") + (warning ?? "")
    }

    private var figures: String {
        let tables = PerformanceTables(report: report)
        let sections = PerformanceReport.Figure.sections(of: report.models).map { title, figures in
            HTMLPage.table(tables.figureHeader(title), tables.rows(figures), textColumns: 1)
        }
        return """
            <h2>Measurements</h2>
            <div class="figures">\(sections.joined(separator: "\n"))</div>
            """
    }

    private func details(_ model: PerformanceReport.ModelPerformance) -> String {
        let steps = model.slowestSteps(Self.shownSteps)
        let rates = HTMLPage.table(
            PerformanceTables.rateHeader, PerformanceTables.rateRows(model), textColumns: 0)
        let operations = HTMLPage.table(
            BenchmarkReport.Operation.header, model.profile.operations.map { breakable($0.cells) },
            textColumns: 1)
        return """
            <h2>\(model.name.escapedForHTML)</h2>
            <h3>Live sources</h3>
            \(rates)
            <h3>Where the time goes <span>\(model.profileText.escapedForHTML)</span></h3>
            <div class="profile">\(operations)</div>
            <h3>The slowest steps <span>\(steps.count) of \(model.profile.steps.count)</span></h3>
            <div class="profile">
            \(HTMLPage.table(BenchmarkReport.Step.header, steps.map { breakable($0.cells) }))</div>
            <h3>Neural Engine</h3>
            \(model.placement?.html ?? "<p>\(model.placementProblem.escapedForHTML)</p>")
            """
    }

    /// Cells in which a line may break after each operation of a step.
    private func breakable(_ cells: [String]) -> [String] {
        cells.map { $0.replacingOccurrences(of: "+", with: "+\u{200b}") }
    }

    private var plots: String {
        let (distribution, sequence) = PerformancePlots.html(report)
        return "<h2>Durations of the predictions</h2>\n"
            + "<div class=\"plots\">\(distribution)\(sequence)</div>"
    }

    private var method: String {
        let items = report.notes.map { "<p>\($0.escapedForHTML)</p>" }
        return "<h2>How it was measured</h2>\n" + items.joined(separator: "\n")
    }
}
