import TensorGraph

/// A copy of a training graph in which the way back computes large elementwise results, such as
/// normalized activations, again instead of keeping them: less memory for more time.
///
/// What is computed again is made from values that the way back needs anyway.
struct Recomputation {
    let graph: Graph
    /// For each live node of the source, its value in the copy.
    private(set) var values: [Int: Tensor] = [:]

    private let source: Graph
    private let backwardStart: Int
    private var consumers: [Int: [Int]] = [:]
    private var isRecomputed: Set<Int> = []
    private var again: [Int: Tensor] = [:]
    /// Elements from which on a result is worth it.
    private static let fewestElements = 1 << 14

    /// - Parameter backwardStart: the first node of the way back.
    init(_ source: Graph, roots: [Int], backwardStart: Int) {
        (self.source, self.backwardStart) = (source, backwardStart)
        graph = Graph(mode: source.mode)
        let live = source.live(from: roots)
        for id in live {
            for input in Set(source.nodes[id].inputs) { consumers[input, default: []].append(id) }
        }
        for id in live where isSaved(id) && leaves(id).allSatisfy(isKept) {
            isRecomputed.insert(id)
        }
        for id in live { values[id] = copy(id) }
    }

    /// What a node of the source became.
    func callAsFunction(_ id: Int) -> Int {
        guard let value = values[id] else { preconditionFailure("node \(id) was not copied") }
        return value.id
    }

    // MARK: What is computed again

    private func isLargeElementwise(_ id: Int) -> Bool {
        let node = source.nodes[id]
        return id < backwardStart && node.operation is any PointwiseOperation
            && node.shape.count >= Self.fewestElements
    }

    private func isNeededOnTheWayBack(_ id: Int) -> Bool {
        (consumers[id] ?? []).contains { $0 >= backwardStart }
    }

    private func isSaved(_ id: Int) -> Bool {
        isLargeElementwise(id) && isNeededOnTheWayBack(id)
    }

    /// Whether a node is but a part of the one node that needs it.
    private func isPart(_ id: Int) -> Bool {
        isLargeElementwise(id) && (consumers[id] ?? []).count == 1
    }

    /// The values that a node and its parts are made from.
    private func leaves(_ id: Int) -> [Int] {
        source.nodes[id].inputs.flatMap { isPart($0) ? leaves($0) : [$0] }
    }

    /// Whether a value is there on the way back without costing memory.
    private func isKept(_ id: Int) -> Bool {
        let node = source.nodes[id]
        if node.inputs.isEmpty || node.shape.count < Self.fewestElements { return true }
        return isNeededOnTheWayBack(id) && !isRecomputed.contains(id)
    }

    // MARK: The copy

    private mutating func copy(_ id: Int) -> Tensor {
        let node = source.nodes[id]
        let isBackward = id >= backwardStart
        var inputs: [Tensor] = []
        for input in node.inputs {
            let value = isBackward && isRecomputed.contains(input) ? repeated(input) : values[input]
            if let value { inputs.append(value) }
        }
        return graph.inModule(node.module) { graph.apply(node.operation, inputs) }
    }

    /// A node's value, computed on the way back.
    private mutating func repeated(_ id: Int) -> Tensor {
        if let known = again[id] { return known }
        let node = source.nodes[id]
        var inputs: [Tensor] = []
        for input in node.inputs {
            if let value = isPart(input) ? repeated(input) : values[input] { inputs.append(value) }
        }
        let value = graph.inModule(node.module) {
            graph.applyAnew(node.operation, inputs, node.shape)
        }
        again[id] = value
        return value
    }
}
