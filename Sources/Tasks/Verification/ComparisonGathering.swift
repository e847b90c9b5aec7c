import RetintColor
import RetintGraph
import RetintRuntime

/// Accumulates the comparison of outputs and colors over all runs.
struct ComparisonGathering {
    let path: String
    let source: String
    let runs: Int
    let tolerance: Tolerance
    /// Whether the outputs are a and b.
    let isColorizer: Bool
    private(set) var outputs: [OutputGathering] = []
    private var colors: ColorGathering?
    /// Whether a run had no comparable colors, so that there is no overall difference.
    private var lacksColors = false

    init(
        path: String, runs: Int, tolerance: Tolerance, expected: some ExpectedOutputs
    ) throws {
        (self.path, self.runs, self.tolerance) = (path, runs, tolerance)
        (source, isColorizer) = (expected.source, try expected.isColorizer)
    }

    /// The difference over all photos; nil if the model is not a colorizer.
    var color: VerificationReport.ColorDifference? { lacksColors ? nil : colors?.difference }

    var photos: [VerificationReport.PhotoDifference] { colors?.photos ?? [] }

    /// Adds the outputs of a run.
    ///
    /// - Returns: the colors; nil if the model is not a colorizer or they are not finite.
    /// - Throws: ``VerificationError`` if the outputs do not match the expected ones.
    mutating func add(
        _ computed: [NamedTensor], _ expected: [NamedTensor], _ input: VerificationInputs.Input
    ) throws -> ColoredBatch? {
        let pairs = try matchOutputs(computed, of: path, to: expected, of: source)
        if outputs.isEmpty {
            // For a and b the peak is fixed, whatever range these images cover.
            let peak = isColorizer && joinedColors(of: computed) != nil ? LabPlanes.abSpan : nil
            outputs = pairs.map {
                OutputGathering($0, runs: runs, peak: peak, tolerance: tolerance)
            }
        }
        for (index, pair) in pairs.enumerated() { outputs[index].add(pair) }
        let colored = try isColorizer ? ColoredBatch(input, computed, expected) : nil
        lacksColors = lacksColors || colored == nil
        if let colored {
            let total = colored.differences.count * runs
            colors = colors ?? ColorGathering(total: total)
            colors?.add(colored.differences, of: input.labels)
        }
        return colored
    }
}

extension ColoredBatch {
    /// Nil if the model is not a colorizer, or its colors are not finite.
    fileprivate init?(
        _ input: VerificationInputs.Input, _ computed: [NamedTensor], _ expected: [NamedTensor]
    ) throws {
        guard input.tensors.count == 1, let first = joinedColors(of: computed),
            let second = joinedColors(of: expected),
            let values = try colorDifferences(input.tensors[0].data, first, second)
        else { return nil }
        labels = input.labels
        lightness = input.tensors[0].data
        (self.computed, self.expected) = (first, second)
        differences = values
    }
}
