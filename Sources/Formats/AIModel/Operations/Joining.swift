import RetintMLPackage

/// Concatenation and splitting.
enum Joining: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "concat": { graph, operation in
            let values = try operation.valueList("values")
            guard try !operation.bool("interleave", default: false) else {
                throw NotWritable("a concat that interleaves has no counterpart")
            }
            if values.count == 1 { return values }
            let rank = operation.type.rank
            let axis = try operation.axis("axis", rank: rank)
            let number = try graph.constant(.integer(Int32(axis)))
            return [try graph.add("primitive.concat_v1", [number] + values, operation.type)]
        },
        "split": { graph, operation in
            let x = try operation.value("x")
            let axis = try operation.axis("axis", rank: x.shape.count)
            let types = operation.operation.outputs.map(\.type)
            let sizes = types.compactMap { type in
                type.shape.flatMap { $0.indices.contains(axis) ? $0[axis] : nil }
            }
            guard sizes.count == types.count else {
                throw NotWritable("a split into parts of open sizes is not written")
            }
            return try graph.add(
                "primitive.split_v1",
                [x, try graph.unsigned(sizes), try graph.constant(.integer(Int32(axis)))], types)
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.concat_v1": { graph, operation in
            let values = operation.operands.dropFirst().map(graph.name)
            return [
                try graph.add(
                    "concat",
                    [
                        "values": .names(values),
                        "axis": .constant(.integer(try operation.integer(0))),
                        "interleave": .constant(.bool(false)),
                    ], operation)
            ]
        },
        "primitive.split_v1": { graph, operation in try graph.split(operation) },
    ]
}

extension GraphReader {
    fileprivate func split(_ operation: ReadOperation) throws -> [ReadValue] {
        let axis = try operation.integer(2)
        let rank = try operation.value(0).type.rank
        let index = Int(axis) + (axis < 0 ? rank : 0)
        guard (0..<rank).contains(index), operation.results.allSatisfy({ $0.rank == rank }) else {
            throw operation.error("axis \(axis) does not fit its operand")
        }
        let sizes = try operation.results.map { type in
            guard let size = type.dimensions[index] else {
                throw operation.error("sizes that vary are not supported")
            }
            return size
        }
        return try addSeveral(
            "split",
            [
                "x": operation.operand(0), "axis": .constant(.integer(axis)),
                "split_sizes": .integers(sizes),
            ], operation)
    }
}
