enum Joining: OperationFamily {
    static let forms: [String: Form] = [
        "concat": { operation in
            let axis = try operation.axis("axis", rank: operation.type.rank)
            let values = try operation.tensors("values")
            guard try operation.bool("interleave", default: false) else {
                return operation.result(
                    "Concat", try operation.vectors(values), ["axis": .int(axis)])
            }
            let stacked = try operation.stacked(values, axis: axis + 1)
            let shape = operation.type.dimensions.map { $0 ?? -1 }
            guard shape.count(where: { $0 == -1 }) <= 1 else {
                throw operation.error("interleaving needs a known shape")
            }
            operation.result("Reshape", [stacked, try operation.integers(shape, "shape")])
        },
        "stack": { operation in
            let axis = try operation.axis("axis", rank: operation.type.rank)
            let values = try operation.tensors("values")
            operation.result(
                "Concat", try operation.expanded(values, axis: axis), ["axis": .int(axis)])
        },
    ]
}

extension TranslatedOperation {
    /// The joined values; numbers, such as sizes, become vectors.
    fileprivate func vectors(_ values: [String]) throws -> [String] {
        try zip(values, arguments("values")).map { value, argument in
            let type = argument.name.flatMap { translation.types[$0] }
            return type?.rank == 0 ? try expanded([value], axis: 0)[0] : value
        }
    }

    /// The values with a new axis.
    fileprivate func expanded(_ values: [String], axis: Int) throws -> [String] {
        try values.map { value in
            let (inputs, attributes) = try unitAxes(value, [axis])
            return step("Unsqueeze", inputs, attributes)
        }
    }

    fileprivate func stacked(_ values: [String], axis: Int) throws -> String {
        step("Concat", try expanded(values, axis: axis), ["axis": .int(axis)])
    }
}
