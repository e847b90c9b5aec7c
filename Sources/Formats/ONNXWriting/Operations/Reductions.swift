enum Reductions: OperationFamily {
    static let forms: [String: Form] = [
        "reduce_sum": "ReduceSum", "reduce_mean": "ReduceMean", "reduce_max": "ReduceMax",
        "reduce_min": "ReduceMin", "reduce_sum_square": "ReduceSumSquare",
        "reduce_l1_norm": "ReduceL1", "reduce_l2_norm": "ReduceL2",
        "reduce_log_sum_exp": "ReduceLogSumExp",
    ].mapValues { type in
        { operation in
            let rank = try operation.type(of: "x").rank
            let axes = try operation.integers("axes").map { try operation.axes($0, rank: rank) }
            let (inputs, attributes) = try operation.reduction(
                type, operation.tensor("x"), axes ?? Array(0..<rank),
                keepsAxes: operation.bool("keep_dims", default: false))
            operation.result(type, inputs, attributes)
        }
    }
}

extension TranslatedOperation {
    /// Inputs and attributes of a reduction: the axes became an input, for ReduceSum with opset 13
    /// and for the others with opset 18.
    func reduction(
        _ type: String, _ x: String, _ axes: [Int], keepsAxes: Bool
    ) throws -> (inputs: [String], attributes: Attributes) {
        let keeps = Attribute(keepsAxes)
        guard opset >= (type == "ReduceSum" ? 13 : 18) else {
            return ([x], ["axes": .ints(axes), "keepdims": keeps])
        }
        return ([x, try integers(axes, "axes")], ["keepdims": keeps])
    }
}
