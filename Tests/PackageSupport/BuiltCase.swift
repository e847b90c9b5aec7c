import RetintEngine
package import RetintGraph
package import RetintMIL
package import RetintMLPackage
package import RetintOperationCases
package import RetintTensors

/// An operation case in a graph, with what the engine computes.
package struct BuiltCase {
    package let output: Tensor
    /// The values of the inputs that are not weights, by name.
    package let feeds: [String: TensorData]
    /// The values of the weights, by name.
    package let variables: [String: TensorData]
    package let expected: TensorData

    /// - Parameter prefix: what the names of inputs start with.
    package init(_ testCase: OperationCase, inputPrefix prefix: String) throws {
        let graph = Graph()
        let weightsStart = testCase.inputs.count - testCase.weights
        var (feeds, variables): ([String: TensorData], [String: TensorData]) = ([:], [:])
        var operands: [Tensor] = []
        for (index, input) in testCase.inputs.enumerated() {
            let data = numbers(input.shape, seed: index + 1, positive: input.range == .positive)
            if index < weightsStart {
                operands.append(graph.input("\(prefix)\(index)", input.shape))
                feeds["\(prefix)\(index)"] = data
            } else {
                operands.append(graph.variable("w.\(index)", input.shape, role: .parameter))
                variables["w.\(index)"] = data
            }
        }
        (self.feeds, self.variables) = (feeds, variables)
        output = try testCase.build(operands)
        expected = try output.evaluate(inputs: feeds, variables: variables)
    }

    /// The program that computes the case's result as `y`.
    package func lowered(
        _ precision: MILDataType, _ target: DeploymentTarget
    ) throws -> MILProgram {
        try MILLowering.lower(
            [("y", output)], variables: variables, LoweringOptions(precision, target)
        ).program
    }
}
