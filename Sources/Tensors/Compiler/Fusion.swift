import RetintGraph

/// Gathers elementwise operations into groups, greedily and without making a cycle among groups.
struct Fusion {
    private let values: ValueTable
    private let backend: any Backend
    private var groups = GroupGraph()
    /// The group of each node when it was added; it may have been merged since.
    private var groupOf: [Int: Int] = [:]
    /// Groups of more elementwise nodes are not extended: their operands would leave the cache.
    private static let mostMembers = 512

    init(_ values: ValueTable, _ backend: any Backend) {
        (self.values, self.backend) = (values, backend)
        for id in values.computed { add(id) }
    }

    private var graph: Graph { values.graph }

    private mutating func add(_ id: Int) {
        let node = graph.nodes[id]
        let isElementwise = backend.isElementwise(node.operation)
        let isView = node.operation is any ViewOperation
        let new = groups.add(
            FusionGroup(
                head: isElementwise ? nil : id, members: isElementwise ? [id] : [],
                shape: node.shape))
        groupOf[id] = new
        for input in node.inputs {
            let origin = values.origin(input)
            guard let producer = groupOf[origin] else { continue }
            // Another order than its own: the producer must first be completely in memory.
            groups.connect(
                producer, to: new, reorders: isElementwise && (isView || origin != input))
        }
        guard isElementwise else { return }
        for input in node.inputs {
            // A renamed value has another shape, and a hoisted one runs at another time.
            guard let producer = groupOf[input], values.aliases[input] == nil,
                isHoisted(input) == isHoisted(id)
            else { continue }
            mergeIfPossible(producer, new)
        }
    }

    private func isHoisted(_ id: Int) -> Bool { values.hoisted.contains(id) }

    private mutating func mergeIfPossible(_ producer: Int, _ consumer: Int) {
        let (first, second) = (groups.root(producer), groups.root(consumer))
        guard first != second, isCompatible(groups[first], groups[second]),
            !groups.reorders(second, from: first), !groups.reorders(first, from: second),
            !groups.haveThirdBetween(first, second)
        else { return }
        groups.merge(first, second)
    }

    private func isCompatible(_ first: FusionGroup, _ second: FusionGroup) -> Bool {
        // A group with a head applies its members to the head's result, so the head comes first.
        guard first.shape == second.shape, second.head == nil,
            first.members.count + second.members.count <= Self.mostMembers
        else { return false }
        return first.head.map { backend.appliesElementwiseWork(to: graph.nodes[$0].operation) }
            ?? true
    }
}

// MARK: Order

extension Fusion {
    /// Updates of variables with at least this many elements run as early as possible, so that
    /// gradients need not be kept to the end; smaller ones run together at the end.
    private static let largeElements = 1 << 17

    /// The groups in topological order; among those that could be next, the one whose last node
    /// comes first in the graph.
    ///
    /// - Parameter updates: variables, and the nodes that become their values.
    func schedule(updates: [(variable: Int, value: Int)]) -> [FusionGroup] {
        var groups = groups
        groups.sortMembers()
        let order = groups.sorted { groups[$0].nodes.last ?? 0 }
        let early = Set(updates.compactMap { largeUpdate(of: $0.value, in: groups) })
            .union(order.filter { isPrompt(groups[$0]) })
        guard !early.isEmpty else { return order.map { groups[$0] } }
        for update in updates { delay(update, until: early, &groups) }
        let ranks = ranks(order, early, groups)
        let result = groups.sorted { ranks[$0] ?? 0 }
        // A reader of an old value may need a new one: that would be a cycle.
        return (result.count == order.count ? result : order).map { groups[$0] }
    }

    private func isPrompt(_ group: FusionGroup) -> Bool {
        group.head.map { graph.nodes[$0].operation is any PromptOperation } ?? false
    }

    /// The group that computes a new value, if that is large.
    private func largeUpdate(of value: Int, in groups: GroupGraph) -> Int? {
        guard let group = groupOf[value].map(groups.root), groups[group].head == nil,
            groups[group].shape.count >= Self.largeElements
        else { return nil }
        return group
    }

    /// Lets an early update wait for all readers of the variable: it overwrites the old value.
    private func delay(
        _ update: (variable: Int, value: Int), until early: Set<Int>, _ groups: inout GroupGraph
    ) {
        guard let group = groupOf[update.value].map(groups.root), early.contains(group) else {
            return
        }
        for reader in values.readers(of: update.variable) {
            guard let other = groupOf[reader].map(groups.root), other != group else { continue }
            groups.connect(other, to: group, reorders: false)
        }
    }

    /// When each group should run: early updates, the scalars that they need, and prompt operations
    /// run once their operands are ready.
    private func ranks(_ order: [Int], _ early: Set<Int>, _ groups: GroupGraph) -> [Int: Int] {
        var ranks: [Int: Int] = [:]
        for group in order {
            let isScalar = groups[group].head == nil && groups[group].shape.count == 1
            let last = groups[group].nodes.last ?? 0
            let operands = groups.predecessors(of: group).compactMap { ranks[$0] }
            ranks[group] = early.contains(group) || isScalar ? operands.max() ?? -1 : last
        }
        return ranks
    }
}
