import RetintCompiler
import RetintGraph
import RetintTensors

/// The groups of operations on values of four axes that keep the order of their operands in memory,
/// and the paths on which values go from one group to another.
struct LayoutGroups {
    private let graph: Graph
    private let loaded: LoadedValues
    /// Leads from a node to another one of its group, and from the first one to itself.
    private var parents: [Int: Int] = [:]
    private var paths: [Path] = []
    /// The paths that begin or end at a group.
    private var pathsOf: [Int: [Int]] = [:]
    /// The groups that are rows.
    private var areRows: Set<Int> = []

    /// A value, and the movements between the operation that computes it and one that reads it.
    private struct Path {
        let origin: Int
        var movements: [any MovementOperation] = []
        /// Nil for an output of the program.
        let reader: Int?
    }

    /// A group's choice depends on its neighbors', so all are made again until none changes: costs
    /// never rise.
    private static let mostSweeps = 8

    init(_ input: GraphPassInput, learns: Bool) {
        graph = input.graph
        loaded = LoadedValues(learns: learns)
        let live = graph.live(from: input.roots)
        for id in live where isFree(id) { parents[id] = id }
        for id in live where !isMovement(id) {
            for value in Set(graph.nodes[id].inputs).sorted() { connect(value, to: id) }
        }
        for id in Set(input.roots).sorted() { addPath(from: id, to: nil) }
        for id in parents.keys.sorted() { parents[id] = root(id) }
        for (index, path) in paths.enumerated() {
            let ends = [path.origin, path.reader].compactMap { $0 }.filter { parents[$0] != nil }
            for group in Set(ends.map(root)) { pathsOf[group, default: []].append(index) }
        }
        choose()
    }

    /// The nodes that are rows, or take rows.
    var rows: Set<Int> {
        let matrices = graph.nodes.indices.filter { graph.nodes[$0].operation is MatMul }
        return Set(parents.keys.filter { areRows.contains(root($0)) } + matrices)
    }

    private mutating func choose() {
        for _ in 0..<Self.mostSweeps {
            let before = areRows
            for (group, paths) in pathsOf.sorted(by: { $0.key < $1.key }) {
                areRows.remove(group)
                let images = cost(paths)
                areRows.insert(group)
                if cost(paths) >= images { areRows.remove(group) }
            }
            if areRows == before { return }
        }
    }

    // MARK: Building

    private func isMovement(_ id: Int) -> Bool {
        graph.nodes[id].operation is any MovementOperation
    }

    /// Whether the operation keeps the order of its operands, whatever that is.
    private func isFree(_ id: Int) -> Bool {
        let node = graph.nodes[id]
        if node.operation is any ElementwiseOperation { return node.shape.rank == 4 }
        return node.operation is any AlongAxes && graph.nodes[node.inputs[0]].shape.rank == 4
    }

    private mutating func connect(_ value: Int, to reader: Int) {
        let isRelated = parents[reader] == nil || graph.nodes[value].shape.rank == 4
        guard isRelated else { return }
        guard parents[value] != nil, parents[reader] != nil, graph.nodes[value].shape.rank == 4
        else { return addPath(from: value, to: reader) }
        let (first, second) = (shortenedRoot(reader), shortenedRoot(value))
        parents[max(first, second)] = min(first, second)
    }

    private mutating func addPath(from value: Int, to reader: Int?) {
        var (origin, movements) = (value, [any MovementOperation]())
        while let movement = graph.nodes[origin].operation as? any MovementOperation {
            movements.insert(movement, at: 0)
            origin = graph.nodes[origin].inputs[0]
        }
        guard parents[origin] != nil || reader.map({ parents[$0] != nil }) ?? false else { return }
        let value = Tensor(graph: graph, id: origin)
        if loaded.contains(value) { return }
        paths.append(Path(origin: origin, movements: movements, reader: reader))
    }

    /// The first node of a node's group, to which the way is shorter the next time.
    private mutating func shortenedRoot(_ id: Int) -> Int {
        var id = id
        while let parent = parents[id], parent != id {
            parents[id] = parents[parent]
            id = parent
        }
        return id
    }

    private func root(_ id: Int) -> Int {
        var id = id
        while let parent = parents[id], parent != id { id = parent }
        return id
    }

    // MARK: Costs

    private func isRows(_ id: Int) -> Bool {
        graph.nodes[id].operation is MatMul || areRows.contains(root(id))
    }

    private func cost(_ indices: [Int]) -> Int {
        indices.reduce(0) { $0 + cost(paths[$1]) }
    }

    /// The elements that change their order.
    private func cost(_ path: Path) -> Int {
        let shape = graph.nodes[path.origin].shape
        var strides = isRows(path.origin) ? Strides(rowMajor: shape) : Strides(shape)
        var moved = 0
        for movement in path.movements {
            if let next = movement.moved(strides) {
                strides = next
            } else {
                moved += strides.shape.count
                guard let next = movement.moved(Strides(rowMajor: strides.shape)) else { break }
                strides = next
            }
        }
        let view = path.reader.map(isRows) ?? false ? strides.rowMajorView : strides.view
        return moved + (view.isDense ? 0 : strides.shape.count)
    }
}
