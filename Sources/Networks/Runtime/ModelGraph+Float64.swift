import RetintFloat64
import RetintGraph
import RetintTensors

extension ModelGraph {
    /// Begins an evaluation in float64 of what ``ModelProgram`` computes in float32: of the outputs
    /// and of all ``values``.
    ///
    /// - Parameters:
    ///   - inputs: see ``ModelProgram/start(_:)``.
    ///   - rules: the arithmetics of nodes; nil for float64, with the roundings of the graph.
    /// - Throws: ``ModelError`` if the inputs are not those of the model; `GraphError` if a node
    ///   has no shape.
    package func float64Run(
        _ inputs: [NamedTensor], _ rules: ArithmeticRules? = nil
    ) throws -> Float64Run {
        let inputs = try inputs.matched(to: self.inputs.map(\.name), of: model.name)
            .mapValues { $0.scaled(by: lightnessScale) }
        let roots = outputs.map(\.value.id) + values.map(\.tensor.id)
        return try Float64Run(
            graph, roots,
            Float64Feeds(
                input: { inputs[$0]?.scalars.map(Double.init) },
                variable: { try variables[$0]?.tensorData().scalars.map(Double.init) }),
            rules)
    }
}
