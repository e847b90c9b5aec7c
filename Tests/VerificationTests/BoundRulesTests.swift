import RetintEngine
import RetintFloat64
import RetintGraph
import RetintOperationCases
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintVerification

/// Bounds contain what operations compute, exactly and in half precision.
@Suite struct BoundRulesTests {
    /// Operations that the bounds of a certificate do not know, if their operands vary.
    private static let unknown: Set = [
        "topk", "scatter_add", "fake_quantize", "batch_moments", "batch_norm_training",
        "log_softmax", "slice_scatter", "avg_pool2d_input", "upsample_bilinear2d_input",
    ]

    /// Every operation of the table, on inputs that are rounded to half precision, with its weights
    /// as constants.
    @Test(arguments: OperationTable.cases.sampled("bounds"))
    func resultsAreWithinTheirBounds(_ testCase: OperationCase) throws {
        let example = try BoundedCase(testCase)
        let analysis = try example.analysis()
        for gap in analysis.gaps where !gap.isOverflow {
            let name = example.graph.nodes[gap.id].operation.name
            let isKnown = !Self.unknown.contains(name) && gap.reason.contains("no bounds")
            #expect(!isKnown || example.hasVariableWeights, "\(name): \(gap.reason)")
        }
        for run in 0..<6 { try example.check(analysis, run) }
    }
}

/// A case of the table between roundings to half precision.
private struct BoundedCase {
    let graph = Graph()
    let testCase: OperationCase
    let output: Tensor
    let feeds: [[Float]]

    private var variable: Range<Int> { 0..<max(1, testCase.inputs.count - testCase.weights) }

    var hasVariableWeights: Bool { testCase.weights == 0 && testCase.inputs.count > 1 }

    init(_ testCase: OperationCase) throws {
        self.testCase = testCase
        let values = CaseValues.all(of: testCase, outputShape: [1])
        let feeds = testCase.inputs.indices.map { values["input \($0)"] ?? [] }
        self.feeds = feeds
        let graph = graph
        let variable = 0..<max(1, testCase.inputs.count - testCase.weights)
        let inputs = testCase.inputs.enumerated().map { index, input in
            variable.contains(index)
                ? graph.input("input \(index)", input.shape).applying(RoundToHalf())
                : graph.constant(TensorData(shape: input.shape, scalars: feeds[index]))
        }
        output = try testCase.build(inputs).applying(RoundToHalf())
        try graph.validate()
    }

    func analysis() throws -> BoundAnalysis {
        let ranges = variable.map { index in
            let (low, high) = (feeds[index].min() ?? 0, feeds[index].max() ?? 0)
            return ("input \(index)", [Interval(Double(low), Double(high))])
        }
        return try BoundAnalysis(
            graph, variables: [:], roots: [output.id],
            ranges: Dictionary(uniqueKeysWithValues: ranges))
    }

    /// Other values of the inputs, of the same range.
    private func values(_ run: Int) -> [String: [Float]] {
        var random = RandomStream(seed: UInt64(run), name: testCase.name)
        let pairs = variable.map { index in
            let own = feeds[index]
            let isWhole = testCase.inputs[index].range == .integers
            let (low, high) = (own.min() ?? 0, own.max() ?? 0)
            let values = own.map { value -> Float in
                guard run > 0 else { return value }
                let other = low + (high - low) * Float(random.uniform())
                return isWhole ? other.rounded() : other
            }
            return ("input \(index)", values)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    func check(_ analysis: BoundAnalysis, _ run: Int) throws {
        let values = values(run)
        let bounds = analysis.bounds(of: output.id)
        let places = bounds.places(in: bounds.shape)
        var exact = try Float64Run(
            graph, [output.id],
            Float64Feeds(
                input: { values[$0]?.map(Double.init) }, variable: { _ in nil }),
            ArithmeticRules(threads: 1) { _ in nil })
        var expected: [Double] = []
        while let (id, value) = try exact.next() {
            if id == output.id { expected = value.values }
        }
        let program = try Program(outputs: [("y", output)])
        let feeds = variable.map { index in
            let name = "input \(index)"
            return (
                name,
                TensorData(shape: testCase.inputs[index].shape, scalars: values[name] ?? [])
            )
        }
        let computed = try program.run(Dictionary(uniqueKeysWithValues: feeds))["y"]?.scalars ?? []
        try #require(computed.count == expected.count && computed.count == places.count)
        for (index, place) in places.enumerated() {
            let (bound, number) = (bounds.elements[place], Double(computed[index]))
            guard number.isFinite else { continue }
            let isExact = bound.exact.contains(expected[index])
            let isComputed = bound.computed.contains(number)
            let isNear = abs(number - expected[index]) <= bound.error
            guard isExact && isComputed && isNear else {
                Issue.record("\(testCase.name)[\(index)]: \(number), \(expected[index]): \(bound)")
                return
            }
        }
    }
}
