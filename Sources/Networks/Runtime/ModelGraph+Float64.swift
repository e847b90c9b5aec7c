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

    /// The largest number of elements that are kept at once in an evaluation of the graph.
    package var largestLiveCount: Int {
        let live = graph.live(from: outputs.map(\.value.id) + values.map(\.tensor.id))
        var lastUses: [Int: Int] = [:]
        for id in live {
            for input in graph.nodes[id].inputs { lastUses[input] = id }
        }
        var (count, largest) = (0, 0)
        for id in live {
            count += graph.nodes[id].shape.count
            largest = max(largest, count)
            for input in Set(graph.nodes[id].inputs) where lastUses[input] == id {
                count -= graph.nodes[input].shape.count
            }
            if lastUses[id] == nil { count -= graph.nodes[id].shape.count }
        }
        return largest
    }
}
