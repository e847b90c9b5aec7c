import RetintGraph

/// Removes scalings and shifts that cancel each other out, for example where a network normalizes
/// an input that was denormalized just before.
package struct AffineCancellation {
    private let source: Graph

    /// Rebuilds `outputs` in a graph without the scalings and shifts that cancel out.
    ///
    /// - Throws: `GraphError` if the graph is invalid.
    package static func simplified(
        _ outputs: [(name: String, value: Tensor)]
    ) throws -> [(name: String, value: Tensor)] {
        guard let source = outputs.first?.value.graph else { return outputs }
        let cancellation = AffineCancellation(source: source)
        return try source.copy(outputs) { id, _, copies in
            let origin = cancellation.origin(of: id)
            return origin == id ? nil : copies[origin]
        }
    }

    /// The earliest node whose value equals that of node `id`.
    private func origin(of id: Int) -> Int {
        var (current, origin) = (id, id)
        var (scale, shift) = (1.0, 0.0)
        while let step = step(current) {
            shift += scale * step.shift
            scale *= step.scale
            current = step.input
            // The rest is below the resolution of float32.
            if abs(scale - 1) < 0x1p-22 && abs(shift) < 0x1p-22 { origin = current }
        }
        return origin
    }

    /// The scale and shift of a node that multiplies its input by a scalar or adds one.
    private func step(_ id: Int) -> (input: Int, scale: Double, shift: Double)? {
        let node = source.nodes[id]
        guard node.inputs.count == 2, let number = scalar(node.inputs[1]),
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

    private func scalar(_ id: Int) -> Double? {
        guard let data = (source.nodes[id].operation as? Constant)?.data, data.shape.count == 1
        else { return nil }
        return Double(data.scalars[0])
    }
}
