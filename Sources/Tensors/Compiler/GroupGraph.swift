/// Fusion groups and their dependencies, while groups are merged.
///
/// Groups are found through a union-find forest, so that a merge does not rename the edges of
/// others. Edges may therefore be repeated, or lead from a group to itself: readers skip those.
struct GroupGraph {
    private var groups: [FusionGroup] = []
    private var parents: [Int] = []
    private var successors: [[Int]] = []
    private var predecessors: [[Int]] = []
    /// The groups whose results a group reads in another order than its own.
    private var reordered: [[Int]] = []
    private var search = GroupSearch()

    /// - Parameter root: the root of a group, from ``root(_:)``.
    subscript(root: Int) -> FusionGroup { groups[root] }

    mutating func add(_ group: FusionGroup) -> Int {
        groups.append(group)
        parents.append(groups.count - 1)
        successors.append([])
        predecessors.append([])
        reordered.append([])
        return groups.count - 1
    }

    mutating func connect(_ producer: Int, to consumer: Int, reorders: Bool) {
        let (first, second) = (root(producer), root(consumer))
        successors[first].append(second)
        predecessors[second].append(first)
        if reorders { reordered[second].append(first) }
    }

    /// The group that `group` has become.
    func root(_ group: Int) -> Int {
        var group = group
        while parents[group] != group { group = parents[group] }
        return group
    }

    /// Whether a group reads another's results in another order than its own.
    func reorders(_ reader: Int, from producer: Int) -> Bool {
        reordered[reader].contains { root($0) == producer }
    }

    mutating func merge(_ first: Int, _ second: Int) {
        let isFirstSmaller =
            groups[first].members.count + successors[first].count
            < groups[second].members.count + successors[second].count
        let (target, source) = isFirstSmaller ? (second, first) : (first, second)
        groups[target].head = groups[target].head ?? groups[source].head
        groups[target].members += groups[source].members
        groups[source].members = []
        successors[target] += successors[source]
        predecessors[target] += predecessors[source]
        reordered[target] += reordered[source]
        (successors[source], predecessors[source], reordered[source]) = ([], [], [])
        parents[source] = target
    }

    /// Whether a path leads from one of two groups to the other through a third, so that merging
    /// them would make a cycle.
    mutating func haveThirdBetween(_ first: Int, _ second: Int) -> Bool {
        hasLongPath(from: first, to: second) || hasLongPath(from: second, to: first)
    }

    /// Searches from both ends. Very distant ends, such as a layer and its gradient in a deep
    /// network, count as connected, so that the time of a search is bounded.
    private mutating func hasLongPath(from start: Int, to goal: Int) -> Bool {
        search.begin(from: start, to: goal, groups: groups.count)
        while let group = search.nextForward() {
            for next in successors[group] {
                if search.reachForward(root(next), from: group) { return true }
            }
            guard let group = search.nextBackward() else { return false }
            for previous in predecessors[group] {
                if search.reachBackward(root(previous), from: group) { return true }
            }
        }
        return false
    }
}

// MARK: Order

extension GroupGraph {
    /// The groups in topological order; of those that could be next, the one with the
    /// lowest rank. Groups in a cycle are omitted.
    func sorted(rank: (Int) -> Int) -> [Int] {
        var waiting = [Int](repeating: 0, count: groups.count)
        var ready = RankedQueue()
        for group in groups.indices where parents[group] == group {
            waiting[group] = predecessors[group].count { root($0) != group }
            if waiting[group] == 0 { ready.insert(group, rank: rank(group)) }
        }
        var result: [Int] = []
        while let group = ready.popLowest() {
            result.append(group)
            for next in successors[group].lazy.map(root) where next != group {
                waiting[next] -= 1
                if waiting[next] == 0 { ready.insert(next, rank: rank(next)) }
            }
        }
        return result
    }

    /// The groups that a group needs, possibly with duplicates.
    func predecessors(of group: Int) -> [Int] {
        predecessors[group].map(root).filter { $0 != group }
    }

    /// Sorts the members of all groups in the order of the graph.
    mutating func sortMembers() {
        for group in groups.indices { groups[group].members.sort() }
    }
}

/// What a search for a path has reached from either end.
private struct GroupSearch {
    /// A search is abandoned after this many edges.
    private static let mostEdges = 4096

    private var (start, goal, edges, number) = (0, 0, 0, 0)
    private var forward: [Int] = []
    private var backward: [Int] = []
    /// For each group, the number of the last search that reached it.
    private var forwardMarks: [Int] = []
    private var backwardMarks: [Int] = []

    mutating func begin(from start: Int, to goal: Int, groups: Int) {
        (self.start, self.goal, edges, number) = (start, goal, 0, number + 1)
        (forward, backward) = ([start], [goal])
        let added = [Int](repeating: 0, count: groups - forwardMarks.count)
        forwardMarks += added
        backwardMarks += added
    }

    mutating func nextForward() -> Int? { forward.popLast() }
    mutating func nextBackward() -> Int? { backward.popLast() }

    /// - Returns: whether there is a path through a third group, or the search was abandoned.
    mutating func reachForward(_ group: Int, from last: Int) -> Bool {
        edges += 1
        guard group != last, group != start else { return false }
        if group == goal { return last != start }
        if backwardMarks[group] == number || edges > Self.mostEdges { return true }
        if forwardMarks[group] != number {
            forwardMarks[group] = number
            forward.append(group)
        }
        return false
    }

    /// - Returns: whether there is a path through a third group, or the search was abandoned.
    mutating func reachBackward(_ group: Int, from last: Int) -> Bool {
        edges += 1
        guard group != last, group != goal else { return false }
        if group == start { return last != goal }
        if forwardMarks[group] == number || edges > Self.mostEdges { return true }
        if backwardMarks[group] != number {
            backwardMarks[group] = number
            backward.append(group)
        }
        return false
    }
}

/// Groups by increasing rank: a binary heap.
private struct RankedQueue {
    private var heap: [(rank: Int, group: Int)] = []

    mutating func insert(_ group: Int, rank: Int) {
        heap.append((rank, group))
        var child = heap.count - 1
        while child > 0, heap[child].rank < heap[(child - 1) / 2].rank {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popLowest() -> Int? {
        guard let lowest = heap.first else { return nil }
        heap[0] = heap[heap.count - 1]
        heap.removeLast()
        var parent = 0
        while 2 * parent + 1 < heap.count {
            var child = 2 * parent + 1
            if child + 1 < heap.count, heap[child + 1].rank < heap[child].rank { child += 1 }
            guard heap[child].rank < heap[parent].rank else { break }
            heap.swapAt(child, parent)
            parent = child
        }
        return lowest.group
    }
}
