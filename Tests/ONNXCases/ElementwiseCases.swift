import RetintGraph
import RetintMLPackage
import RetintPackageSupport
import RetintTensors

extension ProgramCase {
    private static let known = numbers([1, 4, 6, 8]).scalars[17]

    static let elementwise: [ProgramCase] =
        [
            "abs", "atan", "ceil", "cos", "erf", "exp", "floor", "round", "sign", "sin", "tan",
            "tanh", "relu", "relu6", "sigmoid", "softplus", "softsign", "square", "exp2", "silu",
            "identity",
        ].map { one($0) }
        + ["sqrt", "inverse", "rsqrt", "log"].map { one($0, positive: true) } + [
            one("log", ["epsilon": float(0.5)], "with epsilon", positive: true),
            one("inverse", ["epsilon": float(0.25)], "with epsilon", positive: true),
            one("threshold", ["alpha": float(0.25)]),
            one("clip", ["alpha": float(-0.5), "beta": float(0.25)]),
            one("leaky_relu", ["alpha": float(0.2)]), one("elu", ["alpha": float(0.7)]),
            one("sigmoid_hard", ["alpha": float(0.3), "beta": float(0.4)]),
            one("sigmoid_hard", [:], "by default"),
            one("prelu", ["alpha": floats(4)]),
            one("thresholded_relu", ["alpha": float(known)]),
            one("linear_activation", ["alpha": float(2), "beta": float(0.5)]),
            one("clamped_relu", ["alpha": float(0.5), "beta": float(0.25)]),
            one("scaled_tanh", ["alpha": float(0.5), "beta": float(1.5)]),
            one("gelu"), one("gelu", ["mode": string("TANH_APPROXIMATION")], "tanh"),
            one("gelu", ["mode": string("SIGMOID_APPROXIMATION")], "sigmoid"),
            one("softmax", ["axis": integer(1)]), one("softmax", ["axis": integer(-1)], "last"),
        ]

    static let binary: [ProgramCase] =
        ["add", "sub", "mul", "maximum", "minimum"].map { one($0, ["y": floats(4, 1, 1)]) } + [
            one("real_div", ["y": float(0.3)]), one("pow", ["y": float(1.5)], positive: true),
            one("floor_div", ["y": float(0.25)]), one("mod", ["y": float(0.25)]),
        ]

    static let logic: [ProgramCase] =
        ["greater", "greater_equal", "less", "less_equal", "equal", "not_equal"].map {
            comparison($0, ["y": float(known)])
        } + [
            pairs("logical_and"), pairs("logical_or"),
            ProgramCase("logical_not", numbers(Shape(shape))) { builder in
                let isHigh = compared("greater", 0.5, &builder)
                let isLow = builder.operation(
                    "logical_not", ["x": .name(isHigh)], name: "is_low",
                    type: MILTensorType(.bool, shape))
                return choice(isLow, &builder)
            },
        ]

    private static func compared(
        _ type: String, _ limit: Float, _ builder: inout MILProgramBuilder
    ) -> String {
        builder.operation(
            type, ["x": .name("x"), "y": float(limit)], name: type,
            type: MILTensorType(.bool, shape))
    }

    private static func pairs(_ type: String) -> ProgramCase {
        ProgramCase(type, numbers(Shape(shape))) { builder in
            let isHigh = compared("greater", 0.5, &builder)
            let isLow = compared("less", type == "logical_and" ? 0.75 : -0.5, &builder)
            let both = builder.operation(
                type, ["x": .name(isHigh), "y": .name(isLow)], name: "both",
                type: MILTensorType(.bool, shape))
            return choice(both, &builder)
        }
    }
}
