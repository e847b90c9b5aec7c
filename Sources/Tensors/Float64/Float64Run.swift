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

/// The arithmetic of a node of a graph.
package struct NodeArithmetic: Sendable {
    package let arithmetic: DeviceArithmetic
    /// Whether the node belongs to an operation that the model declares as float16.
    package let isHalf: Bool
    /// Whether the node is the result of an operation, and not a step inside it.
    package let isResult: Bool

    package init(_ arithmetic: DeviceArithmetic, isHalf: Bool, isResult: Bool) {
        (self.arithmetic, self.isHalf, self.isResult) = (arithmetic, isHalf, isResult)
    }

    /// Rounds to the format of results.
    fileprivate func resultRounding(_ id: Int) -> Rounding {
        arithmetic.rounding(to: isHalf ? arithmetic.results : .float32, id)
    }

    /// Rounds the node's value.
    fileprivate func rounding(_ id: Int) -> Rounding {
        guard !isResult else { return resultRounding(id) }
        return arithmetic.rounding(to: isHalf ? arithmetic.steps : .float32, id)
    }
}

/// Which nodes are computed in which arithmetic.
package struct ArithmeticRules {
    /// The arithmetic of a node; nil for exact numbers: float64, and nothing is rounded to half
    /// precision, even where the graph says so.
    package var arithmetic: (Int) -> NodeArithmetic?
    /// The number of threads for products of matrices.
    package var threads: Int

    package init(threads: Int, arithmetic: @escaping (Int) -> NodeArithmetic?) {
        (self.threads, self.arithmetic) = (threads, arithmetic)
    }
}

/// Evaluates a graph in float64, one node after another: what float32 loses shows in the
/// difference; or in a device's arithmetic, which rounds numbers of float64. A value is kept only
/// until its last use.
package struct Float64Run {
    private let graph: Graph
    private let feeds: Float64Feeds
    private let rules: ArithmeticRules?
    private var waiting: ArraySlice<Int>
    private var values: [Int: Float64Array] = [:]
    /// How many nodes still need each value.
    private var uses: [Int: Int] = [:]

    /// - Throws: `GraphError` if a node of the graph has no shape.
    package init(
        _ graph: Graph, _ roots: some Collection<Int>, _ feeds: Float64Feeds,
        _ rules: ArithmeticRules? = nil
    ) throws {
        try graph.validate()
        (self.graph, self.feeds, self.rules) = (graph, feeds, rules)
        waiting = graph.live(from: Array(roots))[...]
        for input in waiting.lazy.flatMap({ graph.nodes[$0].inputs }) {
            uses[input, default: 0] += 1
        }
    }

    /// Evaluates the next node; nil when there is none. Nodes come in topological order.
    ///
    /// - Throws: `GraphError` if there is no value for an input or a variable, or an operation
    ///   fails; `CancellationError` if the current task is cancelled.
    package mutating func next() throws -> (id: Int, value: Float64Array)? {
        try Task.checkCancellation()
        guard let id = waiting.popFirst() else { return nil }
        let node = graph.nodes[id]
        let value = try failing(node) {
            try evaluate(id, node, node.inputs.compactMap { values[$0] })
        }
        for input in node.inputs {
            uses[input, default: 0] -= 1
            if uses[input] == 0 { values[input] = nil }
        }
        if uses[id, default: 0] > 0 { values[id] = value }
        return (id, value)
    }

    /// Adds the operation to its errors.
    private func failing<Result>(_ node: Graph.Node, _ body: () throws -> Result) throws -> Result {
        func failure(_ reason: String) -> GraphError {
            GraphError(
                operation: node.operation.name, module: node.module,
                inputShapes: node.inputs.map { graph.nodes[$0].shape }, reason: reason)
        }
        do {
            return try body()
        } catch let error as ShapeError {
            throw failure(error.reason)
        } catch let error as Float64Error {
            throw failure(error.description)
        }
    }

    private func evaluate(
        _ id: Int, _ node: Graph.Node, _ inputs: [Float64Array]
    ) throws -> Float64Array {
        let name = node.operation.name
        guard let values = try rounded(id, node, inputs) else {
            throw Float64Error(description: "there is no value for \(node.operation)")
        }
        guard values.count == node.shape.count else {
            throw Float64Error(description: "\(name): \(values.count) values for \(node.shape)")
        }
        return Float64Array(shape: node.shape, values: values)
    }

    /// The values in the arithmetic of the node.
    private func rounded(
        _ id: Int, _ node: Graph.Node, _ inputs: [Float64Array]
    ) throws -> [Double]? {
        guard let rules else { return try values(of: node, inputs, .exact) }
        let isRounding = node.operation is RoundToHalf
        guard let own = rules.arithmetic(id) else {
            return isRounding ? inputs[0].values : try values(of: node, inputs, .exact)
        }
        let operands = zip(node.inputs, inputs).enumerated().map { place, pair in
            let isRounded = rules.arithmetic(pair.0) != nil || node.takesIndices(at: place)
            return isRounded ? pair.1 : pair.1.rounded(own.resultRounding(pair.0))
        }
        let steps = Steps(own, id: id, threads: rules.threads)
        let values = isRounding ? operands[0].values : try values(of: node, operands, steps)
        let rounding = own.rounding(id)
        return values?.enumerated().map { rounding($1, at: $0) }
    }

    private func values(
        of node: Graph.Node, _ inputs: [Float64Array], _ steps: Steps
    ) throws -> [Double]? {
        switch node.operation {
        case let source as any Float64Source: try source.values(from: feeds)
        case let operation as any ElementwiseOperation:
            operation.float64(inputs, shape: node.shape, steps)
        case let operation as any SteppedOperation:
            operation.values(inputs, shape: node.shape, steps)
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

extension Float64Array {
    fileprivate func rounded(_ rounding: Rounding) -> Float64Array {
        var result = self
        result.values = values.enumerated().map { rounding($1, at: $0) }
        return result
    }
}

extension Graph.Node {
    /// Whether an operand has indices, which are not rounded.
    package func takesIndices(at place: Int) -> Bool {
        place == 1 && (operation is GatherElements || operation is ScatterElements)
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
