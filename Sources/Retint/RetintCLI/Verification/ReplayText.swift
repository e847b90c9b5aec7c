import Retint

extension ReplayReport {
    /// The figures that are listed.
    private static let listedCount = 20

    /// What differs, as text.
    ///
    /// - Parameter results: the file of the saved results.
    func lines(of results: String) -> [String] {
        environmentLines + (files.isEmpty ? runLines : fileLines)
            + [isSame ? "\(results): the same" : "\(results): DIFFERS"]
    }

    private var fileLines: [String] {
        files.map { "\($0.name): \($0.kind.text)" }
            + ["nothing was run, because the files are not those of the saved run"]
    }

    private var environmentLines: [String] {
        guard !isSameEnvironment else { return ["environment: the same: \(replayedOn.text)"] }
        return [
            "environment: different", "  saved on:    \(savedOn.text)",
            "  replayed on: \(replayedOn.text)",
        ]
    }

    private var runLines: [String] {
        guard !differences.isEmpty else { return [verdict, "figures: the same bits"] }
        let rest = differences.count - Self.listedCount
        return [verdict, figures] + table.lines.map { "  " + $0 }
            + (rest > 0 ? ["  and \(rest) more"] : [])
    }

    private var verdict: String {
        func word(_ passed: Bool?) -> String { passed == true ? "passed" : "FAILED" }
        return savedPassed == replayedPassed
            ? "verdict: the same: \(word(savedPassed))"
            : "verdict: different: \(word(savedPassed)) before, \(word(replayedPassed)) now"
    }

    private var figures: String {
        let rest = isSameEnvironment ? "" : ", as they may in a different environment"
        let count = differences.count
        return "figures: \(count) \(count == 1 ? "differs" : "differ")\(rest):"
    }

    private var table: TextTable {
        TextTable(
            header: ["figure", "saved", "now"],
            differences.prefix(Self.listedCount).map { [$0.place, $0.saved, $0.found] })
    }

    /// What `--json` prints.
    var summary: ReplaySummary { ReplaySummary(report: self) }
}

/// A replay for other programs.
struct ReplaySummary: Encodable {
    let report: ReplayReport

    private enum CodingKeys: String, CodingKey { case same, sameEnvironment }

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(report.isSame, forKey: .same)
        try container.encode(report.isSameEnvironment, forKey: .sameEnvironment)
    }
}

extension VerificationRecord.FileChange.Kind {
    fileprivate var text: String {
        switch self {
        case .changed: "has other bytes"
        case .missing: "is no longer read"
        case .added: "was not read by the saved run"
        }
    }
}

extension VerificationResults.Environment {
    fileprivate var text: String {
        let threads = threads.map { Format.counted($0, "thread") }
        return ["retint \(retint)", processor, kernels, threads].compactMap { $0 }
            .joined(separator: "; ")
    }
}
