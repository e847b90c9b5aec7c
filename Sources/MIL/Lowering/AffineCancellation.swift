import TensorGraph

/// Leaves out scalings and shifts that undo each other: a network that normalizes its input, given
/// an input that is normalized already.
package struct AffineCancellation {
    private let source: Graph

    /// The same values in a graph without such steps.
    ///
    /// - Throws: ``GraphError`` if a rule was broken while the graph was built.
    package static func simplified(
        _ outputs: [(name: String, value: Tensor)]
    ) throws -> [(name: String, value: Tensor)] {
        guard let source = outputs.first?.value.graph else { return outputs }
        try source.validate()
        let cancellation = AffineCancellation(source: source)
        let values = cancellation.copy(of: outputs.map(\.value.id))
        return outputs.compactMap { output in
            values[output.value.id].map { (output.name, $0) }
        }
    }

    private func copy(of roots: [Int]) -> [Int: Tensor] {
        let graph = Graph(mode: source.mode)
        var values: [Int: Tensor] = [:]
        for id in source.live(from: roots) {
            let origin = origin(of: id)
            if origin != id {
                values[id] = values[origin]
                continue
            }
            let node = source.nodes[id]
            let inputs = node.inputs.compactMap { values[$0] }
            let add = { graph.apply(node.operation, inputs) }
            values[id] = node.module.isEmpty ? add() : graph.inModule(node.module, add)
        }
        return values
    }

    /// The earliest value that a value is equal to.
    private func origin(of id: Int) -> Int {
        var (place, origin) = (id, id)
        var (scale, shift) = (1.0, 0.0)
        while let step = step(place) {
            shift += scale * step.shift
            scale *= step.scale
            place = step.input
            // Beyond the last digit that float32 has.
            if abs(scale - 1) < 0x1p-22 && abs(shift) < 0x1p-22 { origin = place }
        }
        return origin
    }

    /// What a node does to its input, if it scales or shifts it by a number.
    private func step(_ id: Int) -> (input: Int, scale: Double, shift: Double)? {
        let node = source.nodes[id]
        guard node.inputs.count == 2, let number = number(node.inputs[1]),
            source.nodes[node.inputs[0]].shape == node.shape
        else { return nil }
        switch node.operation {
        case is Add: return (node.inputs[0], 1, number)
        case is Subtract: return (node.inputs[0], 1, -number)
        case is Multiply: return (node.inputs[0], number, 0)
        case is Divide: return (node.inputs[0], 1 / number, 0)
        default: return nil
        }
    }

    private func number(_ id: Int) -> Double? {
        guard let data = (source.nodes[id].operation as? Constant)?.data, data.shape.count == 1
        else { return nil }
        return Double(data.scalars[0])
    }
}
