import RetintGraph
import RetintTensors

/// Elements of tensors at given positions: along one axis, or by tuples of indices.
enum Indexing: OperationFamily {
    static let rules: [String: OperationRule] = [
        "GatherElements": OperationRule(elements),
        "Scatter": OperationRule(scattered),
        "ScatterElements": OperationRule(scattered),
        "ArgMax": extreme { $0 },
        "ArgMin": extreme { -$0 },
        "TopK": OperationRule(top),
        "OneHot": OperationRule(oneHot),
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
        guard node.isConstant(1) else {
            let x = try node.tensor(0)
            let axis = try node.axis(try node.integer("axis", default: 0), rank: x.shape.rank)
            let y = gather(x, axis: axis, indices: try node.tensor(1))
            return [.tensor(y, try node.value(0).type)]
        }
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

extension Indexing {
    /// The data with elements replaced, or with numbers added to them.
    @Sendable private static func scattered(_ node: NodeContext) throws -> [ONNXValue] {
        let (data, indices) = (try node.tensor(0), try node.tensor(1))
        let updates = try node.tensor(2)
        let axis = try node.axis(try node.integer("axis", default: 0), rank: data.shape.rank)
        guard indices.shape == updates.shape else {
            throw node.error(
                "updates of \(updates.shape) do not fit \(indices.shape)", ONNXError.damaged)
        }
        let type = try node.value(0).type
        switch try node.string("reduction", default: "none") {
        case "none":
            return [.tensor(scatter(data, axis: axis, indices: indices, updates), type)]
        case "add":
            return [.tensor(scatterAdd(data, axis: axis, indices: indices, updates), type)]
        case let mode: throw node.error("the reduction \(mode.plain) is not supported")
        }
    }

    /// The positions of the largest elements.
    private static func extreme(
        _ signed: @escaping @Sendable (Tensor) -> Tensor
    ) -> OperationRule {
        OperationRule { node in
            let x = try node.tensor(0)
            let axis = try node.axis(try node.integer("axis", default: 0), rank: x.shape.rank)
            guard try !node.flag("select_last_index") else {
                throw node.error("select_last_index is not supported")
            }
            let indices = topIndices(signed(x), 1, axis: axis)
            let keepDims = try node.flag("keepdims", default: true)
            return [.tensor(keepDims ? indices : indices.sum(axes: [axis]), .int64)]
        }
    }

    /// One value at the position along a new axis that an index names, another one elsewhere
    /// (`torch.nn.functional.one_hot`).
    @Sendable private static func oneHot(_ node: NodeContext) throws -> [ONNXValue] {
        let indices = try node.tensor(0)
        let (depth, values) = (try node.integer(1), try node.value(2))
        let rank = indices.shape.rank + 1
        let axis = try node.axis(try node.integer("axis", default: -1), rank: rank)
        guard depth >= 1, values.dimensions == [2], rank <= Shape.maximumRank else {
            throw node.error("a depth of \(depth) for \(indices.shape) is not supported")
        }
        try node.takeHost([depth])
        var (column, whole) = (indices.shape.dimensions, indices.shape.dimensions)
        column.insert(1, at: axis)
        whole.insert(depth, at: axis)
        _ = try node.count(whole)
        let places = ONNXTensor(integers: Array(0..<depth))
            .reshaped([depth] + [Int](repeating: 1, count: rank - 1 - axis))
        // Negative indices count from the end.
        let positive = indices + greater(0, indices) * Float(depth)
        let isNamed = equal(positive.reshaped(Shape(column)), try node.tensor(.host(places)))
        let (off, on) = (
            try node.tensor(values).sliced(axis: 0, 0..<1),
            try node.tensor(values).sliced(axis: 0, 1..<2)
        )
        return [.tensor(select(isNamed, on, off), values.type)]
    }

    @Sendable private static func top(_ node: NodeContext) throws -> [ONNXValue] {
        let x = try node.tensor(0)
        let axis = try node.axis(try node.integer("axis", default: -1), rank: x.shape.rank)
        let count =
            try node.optional(1).map { _ in try node.integer(1) }
            ?? node.integer("k", default: 1)
        let isLargest = try node.flag("largest", default: true)
        guard (1...x.shape[axis]).contains(count) else {
            throw node.error("\(count) elements cannot be taken from axis \(axis) of \(x.shape)")
        }
        let indices = topIndices(isLargest ? x : -x, count, axis: axis)
        return [
            .tensor(gather(x, axis: axis, indices: indices), try node.value(0).type),
            .tensor(indices, .int64),
        ]
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
