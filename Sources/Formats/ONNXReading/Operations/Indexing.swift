import RetintGraph
import RetintTensors

/// Parts of tensors at constant positions: tuples of indices into the leading axes.
enum Indexing: OperationFamily {
    static let rules: [String: OperationRule] = [
        "GatherElements": OperationRule(elements),
        "GatherND": OperationRule { node in
            let value = try node.value(0)
            let batchAxes = try node.integer("batch_dims", default: 0)
            let table = try IndexTable(node, value.dimensions, batchAxes: batchAxes)
            let rows = try Shapes.reshaped(value, table.rows, node)
            let picked = try Slicing.gathered(
                rows, axis: 0, table.positions, [table.positions.count] + table.rows.dropFirst(),
                node)
            return [try Shapes.reshaped(picked, table.result, node)]
        },
        "ScatterND": OperationRule { node in
            let mode = try node.string("reduction", default: "none")
            guard mode == "none" else {
                throw node.error("the reduction \(mode.plain) is not supported")
            }
            let value = try node.value(0)
            let table = try IndexTable(node, value.dimensions, batchAxes: 0)
            let updates = try node.value(2)
            guard updates.dimensions == table.result else {
                throw node.error(
                    "updates of \(updates.dimensions) do not fit \(table.result)", ONNXError.damaged
                )
            }
            // Each row of the result is a row of the data or, from `count` on, of the updates.
            let count = table.rows[0]
            try node.takeHost([count])
            var sources = Array(0..<count)
            for (update, position) in table.positions.enumerated() {
                sources[position] = count + update
            }
            let rest = Array(table.rows.dropFirst())
            let rows = try node.tensor(Shapes.reshaped(value, table.rows, node))
            let changes = try node.tensor(
                Shapes.reshaped(updates, [table.positions.count] + rest, node))
            let both = ONNXValue.tensor(concat([rows, changes], axis: 0), value.type)
            let picked = try Slicing.gathered(both, axis: 0, sources, table.rows, node)
            return [try Shapes.reshaped(picked, value.dimensions, node)]
        },
    ]

    /// Elements whose position along one axis is given for each.
    @Sendable private static func elements(_ node: NodeContext) throws -> [ONNXValue] {
        let (value, indices) = (try node.value(0), try node.constant(1))
        let data = value.dimensions
        let axis = try node.axis(try node.integer("axis", default: 0), rank: data.count)
        guard indices.rank == data.count,
            data.indices.allSatisfy({ $0 == axis || indices.dimensions[$0] <= data[$0] })
        else {
            throw node.error(
                "indices of \(indices.dimensions) do not fit \(data)", ONNXError.damaged)
        }
        try node.takeHost(indices.dimensions)
        let strides = Shape(data).strides
        var others = strides
        others[axis] = 0
        let rows = ONNXTensor.positions(indices.dimensions, strides: others)
        let positions = try zip(rows, node.integers(1)).map { row, index in
            row + (try node.position(index, of: data[axis])) * strides[axis]
        }
        let flat = try Shapes.reshaped(value, [node.count(data)], node)
        return [try Slicing.gathered(flat, axis: 0, positions, indices.dimensions, node)]
    }
}

/// The second input of a node: tuples of indices, as rows of a matrix of all that
/// they can name.
private struct IndexTable {
    /// The data's shape with the indexed axes merged.
    let rows: [Int]
    /// A row for each tuple.
    let positions: [Int]
    /// The shape of the elements named by the tuples.
    let result: [Int]

    /// - Parameter batchAxes: the number of leading axes that data and indices share.
    init(_ node: NodeContext, _ data: [Int], batchAxes: Int) throws {
        let table = try node.constant(1)
        guard let width = table.dimensions.last, (0..<table.rank).contains(batchAxes),
            batchAxes + width <= data.count, width > 0,
            data[..<batchAxes] == table.dimensions[..<batchAxes]
        else {
            throw node.error("indices of \(table.dimensions) do not fit \(data)", ONNXError.damaged)
        }
        let depth = batchAxes + width
        let named = Array(data[batchAxes..<depth])
        rows = [try node.count(Array(data[..<depth]))] + data[depth...]
        result = table.dimensions.dropLast() + data[depth...]
        let indices = try node.integers(1)
        let perBatch = table.dimensions[batchAxes...].dropLast().reduce(1, *)
        positions = try (0..<indices.count / width).map { tuple in
            try named.indices.reduce(tuple / perBatch) { position, axis in
                let index = indices[tuple * width + axis]
                return position * named[axis] + (try node.position(index, of: named[axis]))
            }
        }
    }
}
