import RetintCompiler
import RetintGraph
import RetintTensors

/// Questions about a graph's nodes that passes ask which replace several by one.
struct GraphPattern {
    private let graph: Graph
    /// The live nodes that read each node, and more than all if it is a root.
    private var uses: [Int: Int] = [:]

    init(_ input: GraphPassInput) {
        graph = input.graph
        for id in graph.live(from: input.roots) {
            for operand in Set(graph.nodes[id].inputs) { uses[operand, default: 0] += 1 }
        }
        // A root is needed whatever replaces its users.
        for root in input.roots { uses[root, default: 0] += graph.nodes.count }
    }

    /// Whether this many nodes read a node's value, and nothing else does.
    func isUsed(_ id: Int, _ count: Int) -> Bool { uses[id] == count }

    func inputs(_ id: Int) -> [Int] { graph.nodes[id].inputs }
    func shape(_ id: Int) -> Shape { graph.nodes[id].shape }

    func operation<Kind: Operation>(_ id: Int, as kind: Kind.Type) -> Kind? {
        graph.nodes[id].operation as? Kind
    }

    /// A node's two operands, in both orders.
    func eitherOrder(_ id: Int) -> [(first: Int, second: Int)] {
        let inputs = inputs(id)
        return [(inputs[0], inputs[1]), (inputs[1], inputs[0])]
    }

    /// Of two operands the one that is not a constant of one element, and the constant.
    func withConstant(_ operands: [Int]) -> (operand: Int, constant: Float)? {
        guard operands.count == 2 else { return nil }
        if let constant = constant(operands[1]) { return (operands[0], constant) }
        return constant(operands[0]).map { (operands[1], $0) }
    }

    /// The value of a constant of one element.
    func constant(_ id: Int) -> Float? {
        guard let constant = operation(id, as: Constant.self), constant.data.scalars.count == 1
        else { return nil }
        return constant.data.scalars[0]
    }
}
