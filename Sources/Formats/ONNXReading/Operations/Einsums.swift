import RetintGraph

/// `Einsum`: sums of products of tensors whose axes have letters.
enum Einsums: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Einsum": OperationRule(parameters: Set(0..<16)) { node in
            let tensors = try node.values().map(node.tensor)
            let equation = try node.string("equation", default: "")
            return [.tensor(try einsum(equation, tensors), try node.value(0).type)]
        }
    ]
}
