import RetintMLPackage

/// Reductions and softmax. Those of the dialect keep the reduced axes with one element.
enum Reductions: OperationFamily {
    /// MIL types by the dialect's names.
    private static let types = [
        "reduce_sum": "reduce_sum", "reduce_mean": "reduce_mean", "reduce_max": "reduce_max",
        "reduce_min": "reduce_min",
    ]

    static let writers: [String: OperationWriter] = {
        var writers: [String: OperationWriter] = [
            "softmax": { graph, operation in
                let x = try operation.value("x")
                let axis = try operation.axis("axis", rank: x.shape.count, default: -1)
                return [try graph.softmax(x, axis)]
            }
        ]
        for (name, type) in types {
            writers[type] = { graph, operation in
                let x = try operation.value("x")
                let axes = try operation.axes(
                    try operation.integers("axes") ?? Array(x.shape.indices), rank: x.shape.count)
                let result = try graph.reduced(name, x, axes)
                return [try graph.reshaped(result, operation.type.shape ?? [])]
            }
        }
        return writers
    }()

    static let readers: [String: OperationReader] = {
        var readers: [String: OperationReader] = [
            "softmax_v1": { graph, operation in
                let axis = MILOperand.constant(.integer(try operation.integer(1)))
                return [
                    try graph.add("softmax", ["x": operation.operand(0), "axis": axis], operation)
                ]
            }
        ]
        for (name, type) in types {
            readers["\(name)_v1"] = { graph, operation in
                [
                    try graph.add(
                        type,
                        [
                            "x": operation.operand(0), "axes": .integers(try operation.integers(1)),
                            "keep_dims": .constant(.bool(true)),
                        ], operation)
                ]
            }
        }
        return readers
    }()
}

extension GraphWriter {
    fileprivate func reduced(
        _ name: String, _ x: WrittenValue, _ axes: [Int]
    ) throws -> WrittenValue {
        var shape = x.shape
        for axis in axes { shape[axis] = 1 }
        let count = axes.reduce(1) { $0 * x.shape[$1] }
        return try composite("\(name)_v1", [x, try signed(axes)], x.type(shape)) { body, values in
            switch name {
            case "reduce_max": return try body.fold("maximum", values, shape, from: -.infinity)
            case "reduce_min": return try body.fold("minimum", values, shape, from: .infinity)
            default:
                let sum = try body.fold("add", values, shape, from: 0)
                guard name == "reduce_mean" else { return sum }
                return try body.combined("divide", sum, try body.number(Float(count), like: sum))
            }
        }
    }

    /// Combines all elements along axes, two at a time.
    ///
    /// - Parameter values: a tensor and the axes.
    private func fold(
        _ name: String, _ values: [WrittenValue], _ shape: [Int], from start: Float
    ) throws -> WrittenValue {
        let scalar = values[0].type([])
        let step = try GraphWriter(module, arguments: [scalar, scalar])
        let pair = step.arguments([scalar, scalar])
        let result = try step.add("primitive.\(name)_v1", pair, scalar)
        try step.add(Dialect.yield, [result], [])
        return try add(
            "primitive.reduce_v1", values + [try number(start, as: values[0].dataType)],
            values[0].type(shape), regions: [step.region])
    }

    fileprivate func softmax(_ x: WrittenValue, _ axis: Int) throws -> WrittenValue {
        let number = try constant(.integer(Int32(axis)))
        return try composite("softmax_v1", [x, number], x.type) { body, values in
            let largest = try body.reduced("reduce_max", values[0], [axis])
            let powers = try body.unary("exp", try body.combined("sub", values[0], largest))
            return try body.combined(
                "divide", powers, try body.reduced("reduce_sum", powers, [axis]))
        }
    }
}
