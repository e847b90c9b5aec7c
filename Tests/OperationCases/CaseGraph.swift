import RetintGraph

/// A case's graph: its inputs, its output, and the gradients of Σ output · weights.
package struct CaseGraph {
    package let graph = Graph()
    package let inputs: [Tensor]
    package let output: Tensor
    package let gradients: [Tensor]
    package let feeds: [String: [Float]]

    package init(_ testCase: OperationCase) throws {
        let graph = graph
        inputs = testCase.inputs.enumerated().map { graph.input("input \($0)", $1.shape) }
        output = try testCase.build(inputs)
        try graph.validate()
        feeds = CaseValues.all(of: testCase, outputShape: output.shape)
        guard testCase.hasGradient else {
            gradients = []
            return
        }
        let loss = (output * graph.input("weights", output.shape)).sum()
        gradients = try RetintGraph.gradients(of: loss, withRespectTo: inputs)
    }

    package var doubleFeeds: [String: [Double]] { feeds.mapValues { $0.map(Double.init) } }
}
