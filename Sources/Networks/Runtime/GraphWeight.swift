import RetintGraph
import RetintTensors

/// A weight of a model's graph: a variable, or a constant of several elements.
package struct GraphWeight {
    /// The name of the variable; nil for a constant.
    package let name: String?
    package let shape: Shape
    /// The first node that uses the weight.
    package let user: Int
    /// Reads the elements, in row-major order.
    package let read: () throws -> [Float]
}

extension ModelGraph {
    /// The weights in the order in which operations use them.
    package var weights: [GraphWeight] {
        let nodes = graph.nodes
        var seen: Set<Int> = []
        var weights: [GraphWeight] = []
        func add(_ name: String?, _ id: Int, _ user: Int, _ read: @escaping () throws -> [Float]) {
            weights.append(GraphWeight(name: name, shape: nodes[id].shape, user: user, read: read))
        }
        for user in graph.live(from: outputs.map(\.value.id)) {
            for id in nodes[user].inputs where seen.insert(id).inserted {
                switch nodes[id].operation {
                case let variable as Variable:
                    guard let values = variables[variable.variableName] else { continue }
                    add(variable.variableName, id, user) { try values.tensorData().scalars }
                case let constant as Constant where constant.data.scalars.count > 1:
                    add(nil, id, user) { constant.data.scalars }
                default: break
                }
            }
        }
        return weights
    }
}
