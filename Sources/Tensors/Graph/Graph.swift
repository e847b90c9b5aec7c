package import RetintTensors

/// A computation on tensors: nodes in topological order, each an ``Operation`` on earlier nodes.
///
/// Nodes are added and never removed. Equal operations on equal inputs become one node
/// (common-subexpression elimination); nodes that no output needs are not compiled (dead-code
/// elimination). A rule violated while the graph is built is stored in ``error``, so that model
/// code needs no `try`; compiling, differentiating or converting the graph throws it.
public final class Graph {
    /// Whether layers such as batch normalization use the batch's statistics or their own.
    public enum Mode: Hashable, Sendable {
        /// Layers use the statistics of the batch, and update their own.
        case training
        /// Layers use their own statistics.
        case inference
    }

    package struct Node {
        package let operation: any Operation
        package let inputs: [Int]
        package let shape: Shape
        /// The dotted path of the module that added the node.
        package let module: String
    }

    private struct NodeKey: Hashable {
        // First, because integers are compared fastest.
        let inputs: [Int]
        let operation: AnyHashable
    }

    /// Whether nodes are added for training or for inference.
    public private(set) var mode: Mode
    /// The prefix of variables, while a frozen part is added; see ``frozen(as:_:)``.
    private(set) var frozenScope: String?
    /// How layers round their weights, so that training adapts to the rounding; nil for no
    /// rounding.
    public var weightRounding: WeightRounding?
    /// How layers round their inputs; nil for no rounding.
    public var inputRounding: InputRounding?
    /// The ranks whose examples batch normalization uses for its statistics; nil for only those of
    /// this process.
    package var batchNormShares: BatchShares?
    package private(set) var nodes: [Node] = []
    /// The values that variables take after a run, in the order of ``update(_:to:)``.
    package var updates: [(variable: String, value: Tensor)] {
        recordedUpdates.map { ($0.variable, Tensor(graph: self, id: $0.value)) }
    }
    /// Nodes by number: tensors refer to the graph, and would keep it alive forever.
    private var recordedUpdates: [(variable: String, value: Int)] = []
    /// The first node that was added by differentiation; nil if there is none.
    package private(set) var backwardStart: Int?
    /// The first rule that was violated while the graph was built.
    public private(set) var error: GraphError?

    private var known: [NodeKey: Int] = [:]
    /// The inputs of layers while ``inputRounding`` observes them, with the names of the weights.
    package var layerInputs: [(weight: String, input: Tensor)] {
        recordedInputs.map { ($0.weight, Tensor(graph: self, id: $0.input)) }
    }
    private var recordedInputs: [(weight: String, input: Int)] = []
    /// The nodes of inputs and variables, by kind and name.
    private var declared: [String: Int] = [:]
    private var modulePath: [String] = []

    /// An empty graph.
    public init(mode: Mode = .inference) {
        self.mode = mode
    }

    /// An empty graph with room for `capacity` nodes.
    package init(mode: Mode, capacity: Int) {
        self.mode = mode
        nodes.reserveCapacity(capacity)
        known.reserveCapacity(capacity)
    }

    /// Applies `operation` to `inputs`, which belong to this graph.
    ///
    /// - Returns: the result: a new node, or an existing equal node. If the operation
    ///   refuses the inputs, ``error`` is set and the result is a placeholder.
    public func apply(_ operation: some Operation, _ inputs: [Tensor]) -> Tensor {
        guard inputs.allSatisfy({ $0.graph === self }) else {
            record(ShapeError("an input belongs to another graph"), operation.name, [])
            return inputs.first { $0.graph === self } ?? constant(0)
        }
        let ids = inputs.map(\.id)
        let key = NodeKey(inputs: ids, operation: AnyHashable(operation))
        if let id = known[key] { return Tensor(graph: self, id: id) }
        let shapes = inputs.map(\.shape)
        do throws(ShapeError) {
            let shape = try operation.outputShape(for: shapes)
            try shape.validate()
            return append(operation, ids, shape, key)
        } catch {
            record(error, operation.name, shapes)
            // A placeholder with a likely shape lets model code continue to its end.
            return append(operation, ids, shapes.first ?? .scalar, key)
        }
    }

    /// Adds a node even if there is an equal one, so that its value is computed twice.
    package func duplicate(
        _ operation: some Operation, _ inputs: [Tensor], _ shape: Shape
    ) -> Tensor {
        let key = NodeKey(inputs: inputs.map(\.id), operation: AnyHashable(operation))
        let first = known[key]
        defer { known[key] = first }
        return append(operation, inputs.map(\.id), shape, key)
    }

    func recordLayerInput(_ input: Tensor, of weight: String) {
        recordedInputs.append((weight, input.id))
    }

    /// Marks all nodes added from now on as part of the backward pass.
    func startBackward() {
        backwardStart = backwardStart ?? nodes.count
    }

    /// Adds an input or a variable; its name must be unique for its kind.
    func declare(_ name: String, _ source: some Operation) -> Tensor {
        let tensor = apply(source, [])
        let first = declared["\(source.name) \(name)", default: tensor.id]
        declared["\(source.name) \(name)"] = first
        if first != tensor.id {
            let other = Tensor(graph: self, id: first).shape
            let error = ShapeError("\(name) is already declared differently, with shape \(other)")
            record(error, source.name, [tensor.shape])
        }
        return tensor
    }

    private func append(
        _ operation: some Operation, _ inputs: [Int], _ shape: Shape, _ key: NodeKey
    ) -> Tensor {
        let module = modulePath.joined(separator: ".")
        nodes.append(Node(operation: operation, inputs: inputs, shape: shape, module: module))
        known[key] = nodes.count - 1
        return Tensor(graph: self, id: nodes.count - 1)
    }

    package func record(_ error: ShapeError, _ operation: String, _ shapes: [Shape]) {
        guard self.error == nil else { return }
        self.error = GraphError(
            operation: operation, module: modulePath.joined(separator: "."), inputShapes: shapes,
            reason: error.reason)
    }

    /// Throws the first rule that was violated while the graph was built.
    public func validate() throws(GraphError) {
        if let error { throw error }
    }

    /// Runs `body` with `name` appended to the module path of new nodes and errors.
    public func inModule<Result, Failure: Error>(
        _ name: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        modulePath.append(name)
        defer { modulePath.removeLast() }
        return try body()
    }

    /// Runs `body` so that the nodes it adds are not trained: batch normalization uses its running
    /// statistics, nothing is rounded, and variables are settings named `scope.NAME`.
    public func frozen<Result, Failure: Error>(
        as scope: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let before = (mode, weightRounding, inputRounding, frozenScope)
        (mode, weightRounding, inputRounding, frozenScope) = (.inference, nil, nil, scope)
        defer { (mode, weightRounding, inputRounding, frozenScope) = before }
        return try body()
    }

    /// Assigns `value` to `variable` at the end of each run.
    ///
    /// All values of a run are computed from the variables' values before the run.
    public func update(_ variable: Tensor, to value: Tensor) {
        guard variable.graph === self && value.graph === self else {
            return record(ShapeError("a tensor belongs to another graph"), "update", [])
        }
        guard let target = variable.operation as? Variable else {
            return record(ShapeError("only a variable can be updated"), "update", [variable.shape])
        }
        guard variable.shape == value.shape else {
            let error = ShapeError("the new value of \(target.variableName) must keep its shape")
            return record(error, "update", [variable.shape, value.shape])
        }
        recordedUpdates.append((target.variableName, value.id))
    }

    /// The variable with a name; nil if it was not declared.
    package func variable(named name: String) -> Tensor? {
        declared["\(Variable.name) \(name)"].map { Tensor(graph: self, id: $0) }
    }

    /// Replaces the value of every update recorded so far.
    package func mapUpdates(_ rule: (_ variable: Tensor, _ value: Tensor) -> Tensor) {
        var replaced: [(variable: String, value: Int)] = []
        for (name, value) in updates {
            guard let variable = variable(named: name) else { continue }
            replaced.append((name, rule(variable, value).id))
        }
        recordedUpdates = replaced
    }

    /// The nodes that `roots` need, in topological order.
    package func live(from roots: [Int]) -> [Int] {
        var isLive = [Bool](repeating: false, count: nodes.count)
        for root in roots { isLive[root] = true }
        for id in nodes.indices.reversed() where isLive[id] {
            for input in nodes[id].inputs { isLive[input] = true }
        }
        return nodes.indices.filter { isLive[$0] }
    }

    /// Copies what `outputs`, tensors of this graph, need to a new graph.
    ///
    /// - Parameter replacement: the value that takes the place of a node, made of the copies of
    ///   earlier nodes; nil for the same operation.
    package func copy(
        _ outputs: [(name: String, value: Tensor)],
        replacing replacement: (_ id: Int, _ target: Graph, _ copies: [Int: Tensor]) throws
            -> Tensor?
    ) throws -> [(name: String, value: Tensor)] {
        try validate()
        let target = Graph(mode: mode)
        var copies: [Int: Tensor] = [:]
        for id in live(from: outputs.map(\.value.id)) {
            let node = nodes[id]
            func value() throws -> Tensor {
                try replacement(id, target, copies)
                    ?? target.apply(node.operation, node.inputs.compactMap { copies[$0] })
            }
            copies[id] = try node.module.isEmpty ? value() : target.inModule(node.module, value)
        }
        return outputs.compactMap { output in
            copies[output.value.id].map { (output.name, $0) }
        }
    }
}
