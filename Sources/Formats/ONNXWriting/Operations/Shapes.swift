/// Operations that only arrange elements differently.
enum Shapes: OperationFamily {
    static let forms: [String: Form] = [
        "reshape": { operation in
            let shape = try operation.requiredIntegers("shape")
            operation.result(
                "Reshape", [try operation.tensor("x"), try operation.integers(shape, "shape")])
        },
        "transpose": { operation in
            let rank = try operation.type(of: "x").rank
            let order = try operation.axes(
                operation.requiredIntegers("perm", count: rank), rank: rank)
            operation.result("Transpose", [try operation.tensor("x")], ["perm": .ints(order)])
        },
        "expand_dims": { operation in
            let axes = try operation.axes(
                operation.requiredIntegers("axes"), rank: operation.type.rank)
            let (inputs, attributes) = try operation.unitAxes(operation.tensor("x"), axes)
            operation.result("Unsqueeze", inputs, attributes)
        },
        "squeeze": { operation in
            let x = try operation.tensor("x")
            let rank = try operation.type(of: "x").rank
            guard let axes = try operation.integers("axes") else {
                return operation.result("Squeeze", [x])
            }
            let (inputs, attributes) = try operation.unitAxes(
                x, operation.axes(axes, rank: rank))
            operation.result("Squeeze", inputs, attributes)
        },
        "tile": { operation in
            let rank = try operation.type(of: "x").rank
            let counts = try operation.requiredIntegers("reps", count: rank)
            operation.result(
                "Tile", [try operation.tensor("x"), try operation.integers(counts, "repeats")])
        },
    ]
}

extension TranslatedOperation {
    /// Inputs and attributes of Squeeze and Unsqueeze: the axes became an input with opset 13.
    func unitAxes(
        _ x: String, _ axes: [Int]
    ) throws -> (inputs: [String], attributes: Attributes) {
        guard opset >= 13 else { return ([x], ["axes": .ints(axes)]) }
        return ([x, try integers(axes, "axes")], [:])
    }
}
