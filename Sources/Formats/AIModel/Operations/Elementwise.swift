import RetintMLPackage

/// Functions of one element, or of two with the same position.
///
/// The dialect's own operations on two tensors need equal shapes. With other shapes there is an
/// operation that also states how its operands are brought to one shape.
enum Elementwise: OperationFamily {
    /// MIL types by the dialect's names, which are between `primitive.` and `_v1`.
    private static let unary = [
        "abs": "abs", "atan": "atan", "cos": "cos", "erf": "erf", "exp": "exp", "round": "round",
        "sin": "sin", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
    ]
    private static let binary = [
        "add": "add", "sub": "sub", "mul": "mul", "divide": "real_div", "maximum": "maximum",
        "minimum": "minimum", "pow": "pow", "floor_divide": "floor_div", "modulo": "mod",
        "greater": "greater", "equal": "equal", "not_equal": "not_equal",
    ]

    static let writers: [String: OperationWriter] = {
        var writers: [String: OperationWriter] = [
            "less": { graph, operation in
                let (x, y) = try (operation.value("x"), operation.value("y"))
                return [try graph.combined("greater", y, x)]
            },
            // The dialect has no other way. Unlike in MIL, the result is true for NaN.
            "greater_equal": { graph, operation in
                let (x, y) = try (operation.value("x"), operation.value("y"))
                return [try graph.unary("not", try graph.combined("greater", y, x))]
            },
            "less_equal": { graph, operation in
                let (x, y) = try (operation.value("x"), operation.value("y"))
                return [try graph.unary("not", try graph.combined("greater", x, y))]
            },
            "square": { graph, operation in
                let x = try operation.value("x")
                return [try graph.combined("mul", x, x)]
            },
            "floor": { graph, operation in
                let x = try operation.value("x")
                return [try graph.combined("floor_divide", x, try graph.number(1, like: x))]
            },
            "log": { graph, operation in
                let x = try operation.addingEpsilon(.leastNonzeroMagnitude, in: graph)
                return [try graph.unary("log", x)]
            },
            "rsqrt": { graph, operation in
                [try graph.unary("rsqrt", try operation.addingEpsilon(1e-12, in: graph))]
            },
            "inverse": { graph, operation in
                let x = try operation.addingEpsilon(1e-4, in: graph)
                return [try graph.combined("divide", try graph.number(1, like: x), x)]
            },
        ]
        for (name, type) in unary {
            writers[type] = { graph, operation in
                [try graph.unary(name, try operation.value("x"))]
            }
        }
        for (name, type) in binary {
            writers[type] = { graph, operation in
                [try graph.combined(name, try operation.value("x"), try operation.value("y"))]
            }
        }
        return writers
    }()

    static let readers: [String: OperationReader] = {
        var readers: [String: OperationReader] = [
            "primitive.log_v1": { graph, operation in
                let none = MILOperand.constant(.float(0, as: try operation.type().dataType))
                return [
                    try graph.add("log", ["x": operation.operand(0), "epsilon": none], operation)
                ]
            },
            "primitive.rsqrt_v1": { graph, operation in
                let none = MILOperand.constant(.float(0, as: try operation.type().dataType))
                return [
                    try graph.add("rsqrt", ["x": operation.operand(0), "epsilon": none], operation)
                ]
            },
        ]
        readers["primitive.not_v1"] = { graph, operation in
            [try graph.add("logical_not", ["x": operation.operand(0)], operation)]
        }
        for (name, type) in unary {
            readers["primitive.\(name)_v1"] = { graph, operation in
                [try graph.add(type, ["x": operation.operand(0)], operation)]
            }
        }
        for (name, type) in binary {
            let reader: OperationReader = { graph, operation in
                [
                    try graph.add(
                        type, ["x": operation.operand(0), "y": operation.operand(1)], operation)
                ]
            }
            readers["primitive.\(name)_v1"] = reader
            readers["broadcasting_\(name)_v1"] = reader
        }
        return readers
    }()
}

extension WrittenOperation {
    /// x + ε; only x if ε is below the smallest normal number.
    fileprivate func addingEpsilon(
        _ standard: Float, in graph: GraphWriter
    ) throws -> WrittenValue {
        let x = try value("x")
        let epsilon = try float("epsilon", default: standard)
        guard epsilon >= .leastNormalMagnitude else { return x }
        return try graph.combined("add", x, try graph.number(epsilon, like: x))
    }
}

extension GraphWriter {
    func unary(_ name: String, _ x: WrittenValue) throws -> WrittenValue {
        try add("primitive.\(name)_v1", [x], x.type)
    }

    /// A number of the same element type and rank as a tensor.
    func number(_ value: Float, like x: WrittenValue) throws -> WrittenValue {
        try number(value, as: x.dataType, rank: x.shape.count)
    }

    /// A function of two tensors, whose shapes are brought to one.
    func combined(_ name: String, _ x: WrittenValue, _ y: WrittenValue) throws -> WrittenValue {
        guard let shape = Self.commonShape(x.shape, y.shape), x.dataType == y.dataType else {
            throw NotWritable("\(x.type) and \(y.type) cannot be combined")
        }
        let isComparison = ["greater", "equal", "not_equal"].contains(name)
        let type = MILTensorType(isComparison ? .bool : x.dataType, shape)
        guard x.shape != y.shape else { return try add("primitive.\(name)_v1", [x, y], type) }
        return try composite("broadcasting_\(name)_v1", [x, y], type) { body, values in
            let operands = try values.map { try body.broadcast($0, to: shape) }
            return try body.add("primitive.\(name)_v1", operands, type)
        }
    }

    /// Repeats a tensor along axes that it lacks or that have one element.
    func broadcast(_ x: WrittenValue, to shape: [Int]) throws -> WrittenValue {
        let missing = [Int](repeating: 1, count: max(shape.count - x.shape.count, 0))
        let value = missing.isEmpty ? x : try reshaped(x, missing + x.shape)
        let axes = shape.indices.filter { value.shape[$0] != shape[$0] }
        guard !axes.isEmpty else { return value }
        return try add(
            "primitive.broadcast_in_dims_v1",
            [value, try unsigned(axes.map { shape[$0] }), try signed(axes)], x.type(shape))
    }

    private static func commonShape(_ x: [Int], _ y: [Int]) -> [Int]? {
        let rank = max(x.count, y.count)
        let (x, y) = (
            [Int](repeating: 1, count: rank - x.count) + x,
            [Int](repeating: 1, count: rank - y.count) + y
        )
        let sizes = zip(x, y).map { $0 == $1 || $1 == 1 ? $0 : $0 == 1 ? $1 : -1 }
        return sizes.contains(-1) ? nil : sizes
    }
}
