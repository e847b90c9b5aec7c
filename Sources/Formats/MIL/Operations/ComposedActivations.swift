import RetintGraph
import RetintMLPackage

/// MIL activations that are composed of several graph operations.
enum ComposedActivations: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "silu": { x, _ in x * sigmoid(x) },
        "softplus": { x, _ in softplus(x) },
        "softplus_parametric": { x, operation in
            let alpha = perChannel(try operation.tensor("alpha"), like: x)
            return alpha * softplus(x * perChannel(try operation.tensor("beta"), like: x))
        },
        "softsign": { x, _ in x / (abs(x) + 1) },
        "gelu": gelu,
        "sigmoid_hard": { x, operation in
            let slope = try operation.float("alpha", default: 0.2)
            return clip(x * slope + (try operation.float("beta", default: 0.5)), min: 0, max: 1)
        },
        "elu": { x, operation in
            let negative = exp(minimum(x, x.scalar(0))) - 1
            return relu(x) + negative * (try operation.float("alpha", default: 1))
        },
        "prelu": { x, operation in
            let slope = perChannel(try operation.tensor("alpha"), like: x)
            return relu(x) + minimum(x, x.scalar(0)) * slope
        },
        "thresholded_relu": { x, operation in
            x * greaterOrEqual(x, try operation.float("alpha", default: 1))
        },
        "linear_activation": { x, operation in
            x * (try operation.float("alpha")) + (try operation.float("beta", default: 0))
        },
        "clamped_relu": { x, operation in
            let (slope, limit) = try (operation.float("alpha"), operation.float("beta"))
            return minimum(relu(x) + minimum(x, x.scalar(0)) * slope, x.scalar(limit))
        },
        "scaled_tanh": { x, operation in
            tanh(x * (try operation.float("beta"))) * (try operation.float("alpha"))
        },
    ]

    @Sendable private static func gelu(
        _ x: Tensor, _ operation: RaisedOperation
    ) throws -> Tensor {
        switch try operation.string("mode", default: "EXACT") {
        case "EXACT": return RetintGraph.gelu(x)
        case "TANH_APPROXIMATION": return geluTanh(x)
        case "SIGMOID_APPROXIMATION": return x * sigmoid(x * 1.702)
        case let mode: throw operation.error("the mode \"\(mode)\" is not supported")
        }
    }
}
