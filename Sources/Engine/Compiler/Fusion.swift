import TensorGraph

/// Gathers elementwise operations into groups, greedily and without making a cycle among groups.
struct Fusion {
    private let values: ValueTable
    private var groups = GroupGraph()
    /// The group of each node when it was added; it may have been merged since.
    private var groupOf: [Int: Int] = [:]
    /// Groups of more elementwise nodes are not extended: their operands would leave the cache.
    private static let mostMembers = 512

    init(_ values: ValueTable) {
        self.values = values
        for id in values.computed { add(id) }
    }

    private var graph: Graph { values.graph }

    private mutating func add(_ id: Int) {
        let node = graph.nodes[id]
        let isElementwise = Self.isElementwise(node.operation)
        let isView = node.operation is any ViewOperation
        let new = groups.add(
            FusionGroup(
                head: isElementwise ? nil : id, members: isElementwise ? [id] : [],
                shape: node.shape))
        groupOf[id] = new
        for input in node.inputs {
            let origin = values.origin(input)
            guard let producer = groupOf[origin] else { continue }
            // Another order than its own: the producer must be in memory as a whole before.
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

    static func isElementwise(_ operation: any Operation) -> Bool {
        operation is any ElementwiseOperation || operation is any ViewOperation
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
        return first.head.map { graph.nodes[$0].operation is any EpilogueOperation } ?? true
    }

    /// The groups in an order in which each comes after those that it needs; among those that could
    /// be next, the one whose last node comes first in the graph.
    func schedule() -> [FusionGroup] {
        groups.sorted { $0.nodes.last ?? 0 }
    }
}
