import RetintGraph
import RetintTensors

/// Where the values of a graph's live nodes are stored, and which nodes need them.
package struct ValueTable {
    package let graph: Graph
    /// Nodes that are read from outside, or become variables.
    package let roots: Set<Int>
    /// The nodes to compute, in topological order, without sources and without aliases of the
    /// memory of another node.
    package private(set) var computed: [Int] = []
    package private(set) var buffers: [Int: Buffer] = [:]
    package private(set) var variables: [(name: String, buffer: Buffer)] = []
    package private(set) var inputs: [(name: String, buffer: Buffer)] = []
    /// Constants and their values, which never change.
    package private(set) var constants: [(buffer: Buffer, data: TensorData)] = []
    package private(set) var consumers: [Int: Set<Int>] = [:]
    /// For a node that is an alias of another node's memory, that other node.
    package private(set) var aliases: [Int: Int] = [:]
    /// Nodes whose values depend only on loaded variables and constants.
    package private(set) var hoisted: Set<Int> = []
    /// Whether a run changes variables.
    private let learns: Bool
    private var storages: [Storage] = []
    /// The remaining budget is for the values of a single run.
    package private(set) var budget: MemoryBudget

    /// - Parameters:
    ///   - roots: nodes whose values must stay in memory.
    ///   - variables: nodes of variables that a run changes.
    ///   - budget: the memory that they may allocate.
    /// - Throws: ``GraphError`` if a value is larger than the budget allows, or all that live from
    ///   run to run are.
    package init(
        _ graph: Graph, roots: [Int], updated variables: [Int], _ budget: MemoryBudget
    ) throws(GraphError) {
        (self.graph, self.roots, self.budget) = (graph, Set(roots), budget)
        learns = !variables.isEmpty
        for id in graph.live(from: roots + variables) { try add(id) }
    }

    /// The node whose memory holds this node's value.
    package func origin(_ id: Int) -> Int { aliases[id] ?? id }

    /// The computed nodes that read a node's memory.
    package func readers(of id: Int) -> [Int] {
        (consumers[id] ?? []).sorted().flatMap { aliases[$0] == nil ? [$0] : readers(of: $0) }
    }

    /// - Precondition: the node is live.
    package func buffer(_ id: Int) -> Buffer {
        guard let buffer = buffers[id] else { preconditionFailure("node \(id) has no buffer") }
        return buffer
    }

    /// Whether a node's value is needed outside the nodes `inside`.
    package func isNeeded(_ id: Int, outside inside: Set<Int>) -> Bool {
        roots.contains(id) || (consumers[id] ?? []).contains { !inside.contains($0) }
    }

    /// The storages that need memory in the arena, once lifetimes are set.
    package var placedStorages: [Storage] {
        storages.filter { $0.kind == .arena && $0.host == nil && $0.lifetime != nil }
    }
    /// The storages whose elements are in the memory of others.
    package var hostedStorages: [Storage] { storages.filter { $0.host != nil } }
    /// The storages that need their own memory.
    package var ownedStorages: [Storage] { storages.filter { $0.kind == .owned && $0.host == nil } }

    // MARK: Building

    private mutating func add(_ id: Int) throws(GraphError) {
        let node = graph.nodes[id]
        for input in node.inputs { consumers[input, default: []].insert(id) }
        if isLoaded(node) { hoisted.insert(id) }
        if let offset = aliasOffset(id) {
            let memory = buffer(node.inputs[0])
            aliases[id] = origin(node.inputs[0])
            buffers[id] = Buffer(
                shape: node.shape, storage: memory.storage, offset: memory.offset + offset)
            return
        }
        // Values computed once per load must outlive all runs.
        let isOwned = !node.inputs.isEmpty && hoisted.contains(id)
        switch node.operation {
        case let constant as Constant:
            constants.append((try allocate(id, .owned), constant.data))
        case let variable as Variable:
            variables.append((variable.variableName, try allocate(id, .owned)))
        case let input as Input: inputs.append((input.inputName, try allocate(id, .arena)))
        case is any InPlaceOperation: buffers[id] = buffer(node.inputs[0])
        default: _ = try allocate(id, isOwned ? .owned : .arena)
        }
        if !node.inputs.isEmpty { computed.append(id) }
    }

    private mutating func allocate(
        _ id: Int, _ kind: Storage.Kind
    ) throws(GraphError) -> Buffer {
        let node = graph.nodes[id], shape = node.shape
        let excess = kind == .owned ? budget.take(shape.count) : budget.excess(shape.count)
        if let excess { throw failure(node, "needs \(excess)") }
        let storage = Storage(kind: kind, count: shape.count)
        storages.append(storage)
        let buffer = Buffer(shape: shape, storage: storage)
        buffers[id] = buffer
        return buffer
    }

    private func failure(_ node: Graph.Node, _ reason: String) -> GraphError {
        GraphError(
            operation: node.operation.name, module: node.module, inputShapes: [],
            reason: "its value of shape \(node.shape) \(reason)")
    }

    /// Where in its input's memory a node's elements begin, if they lie there in the order of the
    /// result: a part of a bucket, or a view.
    private func aliasOffset(_ id: Int) -> Int? {
        let node = graph.nodes[id]
        if let part = node.operation as? BucketPart { return part.offset }
        guard let strides = (node.operation as? AsStrided)?.strides, strides.view.isDense else {
            return nil
        }
        // What is read after a run is a variable's value from before the run.
        let isOfVariable = graph.nodes[origin(node.inputs[0])].operation is Variable
        return learns && isOfVariable && roots.contains(id) ? nil : strides.offset
    }

    /// Whether a value depends only on variables and constants that no run changes.
    private func isLoaded(_ node: Graph.Node) -> Bool {
        switch node.operation {
        case is Constant: true
        case is Input: false
        case let variable as Variable: variable.role != .setting && !learns
        default: node.inputs.allSatisfy { hoisted.contains($0) }
        }
    }
}
