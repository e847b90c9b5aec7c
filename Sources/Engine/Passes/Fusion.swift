import TensorGraph

/// Work that runs as one step: a kernel, elementwise operations, or a kernel and the elementwise
/// operations on its result.
struct FusionGroup {
    /// The node with a kernel of its own, if any.
    var head: Int?
    /// Elementwise nodes, in order.
    var members: [Int] = []
    /// The shape that all elementwise members share.
    var shape: Shape

    var nodes: [Int] { (head.map { [$0] } ?? []) + members }
}

/// Gathers elementwise operations into groups, greedily, without making a circle among groups.
struct Fusion {
    private let graph: Graph
    private let sources: [Int: Int]
    private(set) var groups: [FusionGroup?] = []
    /// The group of each node.
    private(set) var groupOf: [Int: Int] = [:]
    private var successors: [Set<Int>] = []
    private var predecessors: [Set<Int>] = []

    /// - Parameters:
    ///   - order: live nodes that are computed, in topological order.
    ///   - sources: for a node that only renames another's memory, that other node.
    init(_ graph: Graph, order: [Int], sources: [Int: Int], isHoisted: (Int) -> Bool) {
        self.graph = graph
        self.sources = sources
        for id in order {
            let node = graph.nodes[id]
            let isElementwise = Self.isElementwise(node.operation)
            groups.append(
                FusionGroup(
                    head: isElementwise ? nil : id, members: isElementwise ? [id] : [],
                    shape: node.shape))
            var own = groups.count - 1
            groupOf[id] = own
            let producers = node.inputs.compactMap { groupOf[sources[$0] ?? $0] }
            predecessors.append(Set(producers))
            successors.append([])
            for producer in producers { successors[producer].insert(own) }
            guard isElementwise else { continue }
            for input in node.inputs {
                // A renamed value has another shape, and a hoisted one runs at another time.
                guard let producer = groupOf[input], producer != own,
                    isHoisted(input) == isHoisted(id), canMerge(producer, own)
                else { continue }
                merge(own, into: producer)
                own = producer
            }
        }
    }

    static func isElementwise(_ operation: any Operation) -> Bool {
        operation is any PointwiseOperation || operation is any ViewOperation
    }

    private func canMerge(_ first: Int, _ second: Int) -> Bool {
        guard let a = groups[first], let b = groups[second], a.shape == b.shape else {
            return false
        }
        if a.head != nil && b.head != nil { return false }
        if let head = a.head ?? b.head, !fuses(head) { return false }
        // A group with a head applies its members to the head's result, so the head comes first.
        if b.head != nil { return false }
        if picks(b, from: a) || picks(a, from: b) { return false }
        return !reaches(first, second) && !reaches(second, first)
    }

    /// Whether a group reads another's results in another order than its own: they must be in
    /// memory as a whole before it starts.
    private func picks(_ reader: FusionGroup, from producer: FusionGroup) -> Bool {
        let produced = Set(producer.nodes)
        return reader.members.contains { member in
            let node = graph.nodes[member]
            let isView = node.operation is any ViewOperation
            return node.inputs.contains { input in
                let origin = sources[input] ?? input
                return produced.contains(origin) && (isView || origin != input)
            }
        }
    }

    private func fuses(_ head: Int) -> Bool {
        graph.nodes[head].operation is any EpilogueHost
    }

    /// Whether a path leads from one group to another through a third.
    private func reaches(_ start: Int, _ goal: Int) -> Bool {
        var seen: Set<Int> = [start]
        var stack = successors[start].filter { $0 != goal }
        while let group = stack.popFirst() {
            guard seen.insert(group).inserted else { continue }
            if successors[group].contains(goal) { return true }
            stack.formUnion(successors[group].subtracting(seen))
        }
        return false
    }

    private mutating func merge(_ source: Int, into target: Int) {
        guard let moved = groups[source] else { return }
        groups[target]?.members += moved.members
        groups[target]?.members.sort()
        groups[source] = nil
        for node in moved.members { groupOf[node] = target }
        for next in successors[source] where next != target {
            predecessors[next].remove(source)
            predecessors[next].insert(target)
            successors[target].insert(next)
        }
        for previous in predecessors[source] where previous != target {
            successors[previous].remove(source)
            successors[previous].insert(target)
            predecessors[target].insert(previous)
        }
        successors[target].remove(source)
        predecessors[target].remove(source)
        successors[source] = []
        predecessors[source] = []
    }

    /// The groups in an order in which each comes after those it needs; ties by the graph's order.
    func schedule() -> [FusionGroup] {
        var waiting = predecessors.map(\.count)
        var ready = groups.indices.filter { groups[$0] != nil && waiting[$0] == 0 }
        var result: [FusionGroup] = []
        func rank(_ group: Int) -> Int { groups[group]?.nodes.last ?? 0 }
        ready.sort { rank($0) > rank($1) }
        while let next = ready.popLast() {
            if let group = groups[next] { result.append(group) }
            for follower in successors[next] {
                waiting[follower] -= 1
                if waiting[follower] == 0 {
                    let place = ready.firstIndex { rank($0) < rank(follower) } ?? ready.count
                    ready.insert(follower, at: place)
                }
            }
        }
        return result
    }
}
