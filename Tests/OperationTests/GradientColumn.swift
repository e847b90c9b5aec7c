import RetintFloat64
import RetintGraph
import RetintOperationCases
import RetintTestSupport
import Testing

/// Gradient rules against central differences of the forward pass, both in double precision.
@Suite struct GradientColumn {
    static let epsilon = 1e-6
    static let absolute = 1e-5
    static let relative = 1e-3

    @Test(
        .enabled(if: !isThreadSanitized, "one thread computes, and would take long"),
        arguments: OperationTable.differentiable.sampled("gradients"))
    func gradientRule(_ testCase: OperationCase) throws {
        let graph = try CaseGraph(testCase)
        let feeds = graph.doubleFeeds
        let gradients = try Float64Evaluator(inputs: feeds).evaluate(graph.gradients)
        for (index, gradient) in gradients.enumerated() {
            #expect(gradient.shape == graph.inputs[index].shape)
            for element in probes(of: gradient.values.count, in: graph, testCase.name) {
                let slope = try difference(graph, feeds, "input \(index)", element)
                let error = (gradient[element] - slope).magnitude
                #expect(
                    error <= Self.absolute + Self.relative * slope.magnitude,
                    "input \(index), element \(element): \(gradient[element]), slope \(slope)")
            }
        }
    }

    /// Which elements to move: all of a few, some of many, fewer where a run takes long.
    private func probes(of count: Int, in graph: CaseGraph, _ name: String) -> [Int] {
        let isLarge = graph.output.shape.count > 10_000 || count > 10_000
        let limit = isLarge ? 3 : 80
        if count <= limit { return Array(0..<count) }
        let seed = CaseValues.seed(name, 2000 + count)
        return (0..<limit).map { Int(CaseValues.splitMix(seed, $0) % UInt64(count)) }
    }

    /// Σ weights · (f(x + ε) − f(x − ε)) / 2ε, summed after the subtraction to keep the digits.
    private func difference(
        _ graph: CaseGraph, _ feeds: [String: [Double]], _ input: String, _ element: Int
    ) throws -> Double {
        let outputs = try [Self.epsilon, -Self.epsilon].map { step in
            var moved = feeds
            moved[input]![element] += step
            return try Float64Evaluator(inputs: moved).evaluate(graph.output)
        }
        return feeds["weights"]!.indices.reduce(0) { sum, place in
            sum + feeds["weights"]![place] * (outputs[0][place] - outputs[1][place])
        } / (2 * Self.epsilon)
    }
}
