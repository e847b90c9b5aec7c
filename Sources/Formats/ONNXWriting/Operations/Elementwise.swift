import RetintMLPackage

/// Elementwise arithmetic and functions.
enum Elementwise: OperationFamily {
    static let forms = direct.merging(composed) { first, _ in first }

    /// Functions of x, and of x and y, that both formats have.
    private static let direct = unaryTypes.mapValues(unary).merging(
        binaryTypes.mapValues(binary)
    ) { first, _ in first }

    /// A node that takes x.
    static func unary(_ type: String) -> Form { { $0.result(type, [try $0.tensor("x")]) } }

    /// A node that takes x and y.
    static func binary(_ type: String) -> Form {
        { $0.result(type, [try $0.tensor("x"), try $0.tensor("y")]) }
    }

    private static let unaryTypes = [
        "abs": "Abs", "atan": "Atan", "ceil": "Ceil", "cos": "Cos", "erf": "Erf", "exp": "Exp",
        "floor": "Floor", "identity": "Identity", "round": "Round", "sign": "Sign", "sin": "Sin",
        "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh",
    ]

    private static let binaryTypes = [
        "add": "Add", "maximum": "Max", "minimum": "Min", "mul": "Mul", "pow": "Pow",
        "real_div": "Div", "sub": "Sub",
    ]

    private static let composed: [String: Form] = [
        "square": { operation in
            let x = try operation.tensor("x")
            operation.result("Mul", [x, x])
        },
        "inverse": { $0.result("Reciprocal", [try $0.addingEpsilon(default: 1e-4)]) },
        "rsqrt": { operation in
            let sum = try operation.addingEpsilon(default: 1e-12)
            operation.result("Reciprocal", [operation.step("Sqrt", [sum])])
        },
        "log": { $0.result("Log", [try $0.addingEpsilon(default: .leastNonzeroMagnitude)]) },
        "exp2": { operation in
            operation.result("Pow", [try operation.number(2, "base"), try operation.tensor("x")])
        },
        "threshold": { operation in
            let low = try operation.number(operation.float("alpha", default: 1), "alpha")
            operation.result("Max", [try operation.tensor("x"), low])
        },
        "floor_div": { operation in
            guard !operation.type.dataType.isFloat else {
                return operation.result("Floor", [try operation.quotient()])
            }
            // ONNX's division of integers cuts towards 0; its Mod has the sign of the divisor.
            try operation.require(opset: 10, for: "remainders of integers")
            let (x, y) = (try operation.tensor("x"), try operation.tensor("y"))
            let rest = operation.step("Mod", [x, y])
            operation.result("Div", [operation.step("Sub", [x, rest]), y])
        },
        "mod": { operation in
            let whole = operation.step("Floor", [try operation.quotient()])
            let multiple = operation.step("Mul", [whole, try operation.tensor("y")])
            operation.result("Sub", [try operation.tensor("x"), multiple])
        },
        "clip": { operation in
            let low = try operation.float("alpha", default: -.greatestFiniteMagnitude)
            let high = try operation.float("beta", default: .greatestFiniteMagnitude)
            operation.result(
                "Clip",
                [
                    try operation.tensor("x"), try operation.number(low, "min"),
                    try operation.number(high, "max"),
                ])
        },
    ]
}

extension TranslatedOperation {
    /// x + ε, or x if ε is below the smallest normal number.
    fileprivate func addingEpsilon(default standard: Float) throws -> String {
        let (x, epsilon) = try (tensor("x"), float("epsilon", default: standard))
        guard epsilon >= .leastNormalMagnitude else { return x }
        return step("Add", [x, try number(epsilon, "epsilon")])
    }

    fileprivate func quotient() throws -> String {
        step("Div", [try tensor("x"), try tensor("y")])
    }
}
