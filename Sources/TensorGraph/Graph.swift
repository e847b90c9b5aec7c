/// A computation on tensors: nodes in topological order, each an ``Operation`` on earlier nodes.
///
/// A graph only grows. Equal operations on equal inputs become one node as they are added
/// (common-subexpression elimination); what no output needs is never compiled (dead-code
/// elimination). A rule broken while building is kept in ``error``, so that model code reads
/// without `try`; whoever compiles, differentiates or converts the graph throws it.
public final class Graph {
    /// Whether layers such as batch normalization learn or infer.
    public enum Mode: Hashable, Sendable {
        case training
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
        let operation: AnyHashable
        let inputs: [Int]
    }

    public private(set) var mode: Mode
    /// What variables are named below, while a part is added that does not learn.
    private(set) var frozenScope: String?
    /// How layers round their weights, so that training gets used to it; nil for not at all.
    public var weightRounding: WeightRounding?
    package private(set) var nodes: [Node] = []
    /// New values that variables take after a run, by the variable's name, in order.
    package private(set) var updates: [(variable: String, value: Tensor)] = []
    /// The first node that was added by differentiation; nil before.
    package private(set) var backwardStart: Int?
    /// The first rule that was broken while the graph was built.
    public private(set) var error: GraphError?

    private var known: [NodeKey: Int] = [:]
    /// The nodes of inputs and variables by kind and name.
    private var declared: [String: Int] = [:]
    private var modulePath: [String] = []

    public init(mode: Mode = .inference) {
        self.mode = mode
    }

    /// Adds `operation` on `inputs`, or finds the equal node that is already there.
    public func apply(_ operation: some Operation, _ inputs: [Tensor]) -> Tensor {
        guard inputs.allSatisfy({ $0.graph === self }) else {
            record(ShapeError("an input belongs to another graph"), operation.name, [])
            return inputs.first { $0.graph === self } ?? constant(0)
        }
        let ids = inputs.map(\.id)
        let key = NodeKey(operation: AnyHashable(operation), inputs: ids)
        if let id = known[key] { return Tensor(graph: self, id: id) }
        let shapes = inputs.map(\.shape)
        do throws(ShapeError) {
            let shape = try operation.outputShape(for: shapes)
            try shape.validate()
            return append(operation, ids, shape, key)
        } catch {
            record(error, operation.name, shapes)
            // A stand-in with a likely shape lets model code go on to its end.
            return append(operation, ids, shapes.first ?? .scalar, key)
        }
    }

    /// Adds a node although an equal one may be there: it is to be computed twice.
    package func applyAnew(
        _ operation: some Operation, _ inputs: [Tensor], _ shape: Shape
    ) -> Tensor {
        let key = NodeKey(operation: AnyHashable(operation), inputs: inputs.map(\.id))
        let first = known[key]
        defer { known[key] = first }
        return append(operation, inputs.map(\.id), shape, key)
    }

    /// Notes that what is added from now on belongs to the way back.
    func startBackward() {
        backwardStart = backwardStart ?? nodes.count
    }

    /// Adds an input or a variable, whose name must not stand for another one of its kind.
    func declare(_ name: String, _ source: some Operation) -> Tensor {
        let tensor = apply(source, [])
        let first = declared["\(source.name) \(name)", default: tensor.id]
        declared["\(source.name) \(name)"] = first
        if first != tensor.id {
            let other = Tensor(graph: self, id: first).shape
            let error = ShapeError("\(name) is already declared otherwise, with shape \(other)")
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

    /// Throws the first rule that was broken while the graph was built.
    public func validate() throws(GraphError) {
        if let error { throw error }
    }

    /// Runs `body` with `name` appended to the module path that new nodes and errors carry.
    public func inModule<Result, Failure: Error>(
        _ name: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        modulePath.append(name)
        defer { modulePath.removeLast() }
        return try body()
    }

    /// Runs `body` so that what it adds infers and is not learned: batch normalization takes its
    /// running statistics, weights are not rounded, and variables are settings named `scope.NAME`.
    public func frozen<Result, Failure: Error>(
        as scope: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let before = (mode, weightRounding, frozenScope)
        (mode, weightRounding, frozenScope) = (.inference, nil, scope)
        defer { (mode, weightRounding, frozenScope) = before }
        return try body()
    }

    /// Lets `variable` take `value` at the end of each run.
    ///
    /// All updates of a run read the values from before it.
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
        updates.append((target.variableName, value))
    }

    /// Replaces the value of every update recorded so far.
    package func mapUpdates(_ rule: (_ variable: Tensor, _ value: Tensor) -> Tensor) {
        let recorded = updates
        var values: [(variable: String, value: Tensor)] = []
        for (name, value) in recorded {
            guard let id = declared["\(Variable.name) \(name)"] else { continue }
            values.append((name, rule(Tensor(graph: self, id: id), value)))
        }
        updates = values
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
}
