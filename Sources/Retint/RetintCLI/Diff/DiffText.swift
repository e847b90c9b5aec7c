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
    private var verdict: String { "\(word): \(reason)" }

    /// Whether the models are equal, in a word.
    var word: String { isEqual ? "equal" : "DIFFERENT" }

    /// Why they are or are not.
    var reason: String {
        if let numbers {
            guard isEqual else {
                return numbers.failures.allSatisfy { $0.hasPrefix("label ") }
                    ? "the outputs are within the tolerance, but not the labels"
                    : "the outputs are outside the tolerance"
            }
            return "the outputs are within the tolerance"
                + (weights.areEqual ? "" : " on these inputs, although weights differ")
        }
        if obstacle != nil { return "the outputs could not be compared" }
        let parts = [
            ("interface", interface.isEmpty), ("operations", operations.areEqual),
            ("weights", weights.areEqual),
        ].filter { $0.1 == isEqual }.map(\.0)
        return "\(parts.joined(separator: ", ")); the models did not run"
    }
}

extension ModelDiff.Side {
    /// The file with its format and arithmetic.
    var text: String { "\(file) (\(format), \(precision) weights, computed in \(compute))" }
}
