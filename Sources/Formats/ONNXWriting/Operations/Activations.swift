import RetintMLPackage

enum Activations: OperationFamily {
    static let forms: [String: Form] = direct.mapValues(Elementwise.unary)
        .merging(composed) { first, _ in first }.merging(["softmax": softmax]) { first, _ in first }

    private static let direct = [
        "relu": "Relu", "sigmoid": "Sigmoid", "softplus": "Softplus", "softsign": "Softsign",
    ]

    private static let composed: [String: Form] = [
        "relu6": { operation in
            let bounds = [try operation.number(0, "min"), try operation.number(6, "max")]
            operation.result("Clip", [try operation.tensor("x")] + bounds)
        },
        "leaky_relu": { operation in
            operation.result("LeakyRelu", [try operation.tensor("x")], try operation.slope(0.01))
        },
        "elu": { operation in
            operation.result("Elu", [try operation.tensor("x")], try operation.slope(1))
        },
        "silu": { operation in
            let x = try operation.tensor("x")
            operation.result("Mul", [x, operation.step("Sigmoid", [x])])
        },
        "sigmoid_hard": { operation in
            operation.result(
                "HardSigmoid", [try operation.tensor("x")],
                [
                    "alpha": .float(try operation.float("alpha", default: 0.2)),
                    "beta": .float(try operation.float("beta", default: 0.5)),
                ])
        },
        "prelu": { operation in
            let slope = try operation.perChannel("alpha")
            operation.result("PRelu", [try operation.tensor("x"), slope])
        },
        // ONNX's ThresholdedRelu is zero at the threshold itself.
        "thresholded_relu": { operation in
            let x = try operation.tensor("x")
            let alpha = try operation.number(operation.float("alpha", default: 1), "alpha")
            let isBelow = operation.step("Less", [x, alpha])
            operation.result("Where", [isBelow, try operation.number(0, "zero"), x])
        },
        "linear_activation": { operation in
            let alpha = try operation.number(operation.float("alpha"), "alpha")
            let beta = try operation.number(operation.float("beta", default: 0), "beta")
            let scaled = operation.step("Mul", [try operation.tensor("x"), alpha])
            operation.result("Add", [scaled, beta])
        },
        "clamped_relu": { operation in
            let slope = try operation.slope(0)
            let leaky = operation.step("LeakyRelu", [try operation.tensor("x")], slope)
            let limit = try operation.number(operation.float("beta"), "beta")
            operation.result("Min", [leaky, limit])
        },
        "scaled_tanh": { operation in
            let beta = try operation.number(operation.float("beta"), "beta")
            let scaled = operation.step("Mul", [try operation.tensor("x"), beta])
            let alpha = try operation.number(operation.float("alpha"), "alpha")
            operation.result("Mul", [operation.step("Tanh", [scaled]), alpha])
        },
        "gelu": { try $0.gelu() },
    ]

    /// Before opset 13, Softmax takes all axes from the given one on.
    private static let softmax: Form = { operation in
        let x = try operation.tensor("x")
        let rank = try operation.type(of: "x").rank
        let axis = try operation.axis("axis", rank: rank, default: -1)
        guard operation.opset < 13, axis != rank - 1 else {
            return operation.result("Softmax", [x], ["axis": .int(axis)])
        }
        var order = Array(0..<rank)
        order.swapAt(axis, rank - 1)
        let moved = operation.step("Transpose", [x], ["perm": .ints(order)])
        let result = operation.step("Softmax", [moved], ["axis": .int(rank - 1)])
        operation.result("Transpose", [result], ["perm": .ints(order)])
    }
}

extension TranslatedOperation {
    fileprivate func slope(_ standard: Float) throws -> Attributes {
        ["alpha": .float(try float("alpha", default: standard))]
    }

    /// A constant vector with one element per channel, of a shape that broadcasts against x.
    private func vector(_ parameter: String) throws -> MILValue {
        guard let value = try constant(parameter), value.type.dataType.isFloat else {
            throw error("its parameter \(parameter) has to be a float constant")
        }
        return value
    }

    fileprivate func perChannel(_ parameter: String) throws -> String {
        let value = try vector(parameter)
        let trailing = max(try type(of: "x").rank - 2, 0)
        let shape = [value.type.elementCount ?? 0] + [Int](repeating: 1, count: trailing)
        return try constant(
            .floats(try value.floats(), shape: shape, as: type.dataType), parameter)
    }

    /// As one node from opset 20 on, where it has one.
    fileprivate func gelu() throws {
        let x = try tensor("x")
        switch try string("mode", default: "EXACT") {
        case "EXACT" where opset >= 20: result("Gelu", [x])
        case "TANH_APPROXIMATION" where opset >= 20:
            result("Gelu", [x], ["approximate": "tanh"])
        case "EXACT":
            let scaled = step("Mul", [x, try number(0.707_106_77, "root")])
            try half(x, times: step("Erf", [scaled]))
        case "TANH_APPROXIMATION":
            let cube = step("Mul", [step("Mul", [x, x]), x])
            let small = step("Mul", [cube, try number(0.044_715, "cubic")])
            let sum = step("Add", [x, small])
            let scaled = step("Mul", [sum, try number(0.797_884_6, "root")])
            try half(x, times: step("Tanh", [scaled]))
        case "SIGMOID_APPROXIMATION":
            let scaled = step("Mul", [x, try number(1.702, "slope")])
            result("Mul", [x, step("Sigmoid", [scaled])])
        case let mode: throw error("the mode \"\(mode)\" is not supported")
        }
    }

    /// ½·x·(1 + y)
    private func half(_ x: String, times y: String) throws {
        let sum = step("Add", [y, try number(1, "one")])
        let product = step("Mul", [x, sum])
        result("Mul", [product, try number(0.5, "half")])
    }
}
