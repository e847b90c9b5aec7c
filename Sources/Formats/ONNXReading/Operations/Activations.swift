import RetintGraph

/// Activation functions.
enum Activations: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Relu": activation { x, _ in relu(x) },
        "LeakyRelu": activation { x, node in
            leakyRelu(x, negativeSlope: try node.float("alpha", default: 0.01))
        },
        "Sigmoid": activation { x, _ in sigmoid(x) },
        "Tanh": activation { x, _ in tanh(x) },
        "HardSigmoid": activation { x, node in
            let slope = try node.float("alpha", default: 0.2)
            return clip(x * slope + (try node.float("beta", default: 0.5)), min: 0, max: 1)
        },
        "HardSwish": activation { x, _ in hardSwish(x) },
        "Elu": activation { x, node in
            exponentialLinear(x, alpha: try node.float("alpha", default: 1))
        },
        "Selu": activation { x, node in
            let alpha = try node.float("alpha", default: 1.673_263_2)
            return exponentialLinear(x, alpha: alpha)
                * (try node.float("gamma", default: 1.050_700_9))
        },
        "Celu": activation { x, node in
            let alpha = try node.float("alpha", default: 1)
            return relu(x) + (exp(minimum(x, x.scalar(0)) / alpha) - 1) * alpha
        },
        "Gelu": activation { x, node in
            switch try node.string("approximate", default: "none") {
            case "none": return gelu(x)
            case "tanh": return geluTanh(x)
            case let mode: throw node.error("the approximation \(mode.plain) is not supported")
            }
        },
        "Mish": activation { x, _ in x * tanh(softplus(x)) },
        "Softplus": activation { x, _ in softplus(x) },
        "Softsign": activation { x, _ in x / (abs(x) + 1) },
        "ThresholdedRelu": activation { x, node in
            x * greater(x, try node.float("alpha", default: 1))
        },
        "Shrink": activation { x, node in
            let limit = try node.float("lambd", default: 0.5)
            let bias = try node.float("bias", default: 0)
            return greater(-limit, x) * (x + bias) + greater(x, limit) * (x - bias)
        },
    ]

    private static func activation(
        _ function: @escaping @Sendable (Tensor, NodeContext) throws -> Tensor
    ) -> OperationRule {
        OperationRule { node in
            [.tensor(try function(node.tensor(0), node), try node.value(0).type)]
        }
    }

    /// x above 0, α·(eˣ − 1) below.
    private static func exponentialLinear(_ x: Tensor, alpha: Float) -> Tensor {
        relu(x) + (exp(minimum(x, x.scalar(0))) - 1) * alpha
    }
}
