/// Operations that only arrange elements differently.
enum Shapes: OperationFamily {
    static let forms: [String: Form] = [
        "shape": { operation in
            let shape = operation.step("Shape", [try operation.tensor("x")])
            operation.result(
                "Cast", [shape], ["to": try TranslatedOperation.target(.int32, operation)])
        },
        "reshape": { operation in
            operation.result(
                "Reshape", [try operation.tensor("x"), try operation.sizes("shape")])
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
            operation.result("Tile", [try operation.tensor("x"), try operation.sizes("reps")])
        },
    ]
}

extension TranslatedOperation {
    /// A vector of sizes, constant or computed, of int64.
    fileprivate func sizes(_ parameter: String) throws -> String {
        guard case .name(let name) = try argument(parameter), try constantValue(name) == nil else {
            return try integers(requiredIntegers(parameter), parameter)
        }
        return try cast(tensor(parameter), to: .int64)
    }

    /// Inputs and attributes of Squeeze and Unsqueeze: the axes became an input with opset 13.
    func unitAxes(
        _ x: String, _ axes: [Int]
    ) throws -> (inputs: [String], attributes: Attributes) {
        guard opset >= 13 else { return ([x], ["axes": .ints(axes)]) }
        return ([x, try integers(axes, "axes")], [:])
    }
}
