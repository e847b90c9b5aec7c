import RetintFloat64
import RetintGraph
import RetintTensors

/// To which operation of a model each node of its graph belongs, and in which formats devices may
/// compute it.
package struct GraphFormats {
    private enum Kind {
        case step, result, source
    }

    private var kinds: [Kind]
    /// The index of the value that a node is, or is a step of; nil for nodes at the boundary of the
    /// model, and for those that have indices.
    private var owners: [Int?]
    private var halves: [Bool]

    /// - Parameter allHalf: whether all values are of half precision, although the graph does not
    ///   round them.
    package init(_ graph: ModelGraph, allHalf: Bool) {
        let nodes = graph.graph.nodes
        kinds = nodes.map { node in
            node.inputs.isEmpty && !(node.operation is Constant) ? .source : .step
        }
        owners = [Int?](repeating: nil, count: nodes.count)
        halves = [Bool](repeating: allHalf, count: nodes.count)
        for (index, value) in graph.values.enumerated() {
            owners[value.tensor.id] = index
            kinds[value.tensor.id] = .result
        }
        spreadOwners(nodes, graph.graph.live(from: graph.values.map(\.tensor.id)))
        guard !allHalf else { return }
        for (id, owner) in owners.enumerated() {
            guard let owner else { continue }
            halves[id] = nodes[graph.values[owner].tensor.id].operation is RoundToHalf
        }
    }

    /// A step belongs to the first value that is computed from it. Indices are not rounded.
    private mutating func spreadOwners(_ nodes: [Graph.Node], _ live: [Int]) {
        for id in live.reversed() {
            guard let owner = owners[id] else { continue }
            for (place, input) in nodes[id].inputs.enumerated() where kinds[input] != .result {
                guard !nodes[id].takesIndices(at: place) else { continue }
                owners[input] = min(owners[input] ?? owner, owner)
            }
        }
    }

    /// The arithmetic of a node when a whole model is computed in one; nil for exact numbers.
    package func node(_ id: Int, in arithmetic: DeviceArithmetic) -> NodeArithmetic? {
        guard owners[id] != nil else { return nil }
        return NodeArithmetic(arithmetic, isHalf: halves[id], isResult: kinds[id] != .step)
    }

    /// The arithmetic of a node when one operation alone is computed in it.
    ///
    /// - Parameter value: the index of the operation's value.
    package func node(
        _ id: Int, in arithmetic: DeviceArithmetic, onlyOf value: Int
    ) -> NodeArithmetic? {
        guard owners[id] == value, kinds[id] != .source else { return nil }
        return node(id, in: arithmetic)
    }

    /// The index of the value that a node is, or is a step of; nil at the boundary of the model.
    package func owner(of id: Int) -> Int? { owners[id] }

    /// Whether a value is declared as half precision, by its node.
    package func isHalf(_ id: Int) -> Bool { halves[id] }
}
