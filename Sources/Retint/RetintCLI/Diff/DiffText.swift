import Retint

extension ModelDiff {
    /// The comparison as text.
    func lines(allLayers: Bool) -> [String] {
        ["first:  \(first.text)", "second: \(second.text)"] + tables.flatMap(\.lines)
            + outputLines(allLayers) + ["", verdict]
    }

    private func outputLines(_ allLayers: Bool) -> [String] {
        if let obstacle { return ["", "outputs: \(obstacle)"] }
        // The last line of a report is its verdict.
        return numbers.map { ["", "outputs:"] + $0.lines(allLayers: allLayers).dropLast() } ?? []
    }

    /// The last line.
    var verdict: String {
        if numbers != nil {
            return isEqual
                ? "equal: the outputs are within the tolerance"
                : "DIFFERENT: the outputs are outside the tolerance"
        }
        if obstacle != nil { return "DIFFERENT: the outputs could not be compared" }
        guard !isEqual else { return "equal, without a run" }
        let parts = [
            ("interface", interface.isEmpty), ("operations", operations.areEqual),
            ("weights", weights.areEqual),
        ]
        return "DIFFERENT, without a run: "
            + parts.filter { !$0.1 }.map(\.0).joined(separator: ", ")
    }
}

extension ModelDiff.Side {
    /// The file with its format and arithmetic.
    var text: String { "\(file) (\(format), \(precision) weights, computed in \(compute))" }
}
