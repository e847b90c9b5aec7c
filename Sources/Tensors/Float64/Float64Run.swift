import RetintGraph
import RetintTensors

/// The values of inputs and variables.
package struct Float64Feeds {
    /// The values of an input by name; nil if there is none.
    package var input: (String) throws -> [Double]?
    /// The values of a variable by name; nil if there is none.
    package var variable: (String) throws -> [Double]?

    /// Values that are read when they are needed.
    package init(
        input: @escaping (String) throws -> [Double]?,
        variable: @escaping (String) throws -> [Double]?
    ) {
        (self.input, self.variable) = (input, variable)
    }
}

/// A node that cannot be evaluated.
package struct Float64Error: Error, CustomStringConvertible {
    package let description: String
}

/// Evaluates a graph in float64, one node after another on one thread: what float32 loses shows in
/// the difference. A value is kept only until its last use.
package struct Float64Run {
    private let graph: Graph
    private let feeds: Float64Feeds
    private var waiting: ArraySlice<Int>
    private var values: [Int: Float64Array] = [:]
    /// How many nodes still need each value.
    private var uses: [Int: Int] = [:]

    /// - Throws: `GraphError` if a node of the graph has no shape.
    package init(_ graph: Graph, _ roots: some Collection<Int>, _ feeds: Float64Feeds) throws {
        try graph.validate()
        (self.graph, self.feeds) = (graph, feeds)
        waiting = graph.live(from: Array(roots))[...]
        for input in waiting.lazy.flatMap({ graph.nodes[$0].inputs }) {
            uses[input, default: 0] += 1
        }
    }

    /// Evaluates the next node; nil when there is none. Nodes come in topological order.
    ///
    /// - Throws: ``Float64Error`` if there is no value for an input or a variable, or an operation
    ///   fails.
    package mutating func next() throws -> (id: Int, value: Float64Array)? {
        guard let id = waiting.popFirst() else { return nil }
        let node = graph.nodes[id]
        let value = try evaluate(node, node.inputs.compactMap { values[$0] })
        for input in node.inputs {
            uses[input, default: 0] -= 1
            if uses[input] == 0 { values[input] = nil }
        }
        if uses[id, default: 0] > 0 { values[id] = value }
        return (id, value)
    }

    private func evaluate(_ node: Graph.Node, _ inputs: [Float64Array]) throws -> Float64Array {
        let name = node.operation.name
        guard let values = try values(of: node, inputs) else {
            throw Float64Error(description: "there is no value for \(node.operation)")
        }
        guard values.count == node.shape.count else {
            throw Float64Error(description: "\(name): \(values.count) values for \(node.shape)")
        }
        return Float64Array(shape: node.shape, values: values)
    }

    private func values(of node: Graph.Node, _ inputs: [Float64Array]) throws -> [Double]? {
        switch node.operation {
        case let source as any Float64Source: try source.values(from: feeds)
        case let operation as any ElementwiseOperation:
            operation.float64(inputs, shape: node.shape)
        case let operation as any Float64Operation:
            try operation.float64(inputs, shape: node.shape)
        case let operation as any HostOperation:
            // Its own code computes in float32.
            try operation.evaluate(inputs.map(\.rounded)).scalars.map(Double.init)
        default:
            throw Float64Error(description: "\(node.operation.name) is not computed in float64")
        }
    }
}

extension Input: Float64Source {
    func values(from feeds: Float64Feeds) throws -> [Double]? { try feeds.input(inputName) }
}

extension Variable: Float64Source {
    func values(from feeds: Float64Feeds) throws -> [Double]? {
        try feeds.variable(variableName)
    }
}

extension Constant: Float64Source {
    func values(from feeds: Float64Feeds) -> [Double]? { data.scalars.map(Double.init) }
}
