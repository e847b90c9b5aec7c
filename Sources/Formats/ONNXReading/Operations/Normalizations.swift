import RetintGraph
import RetintLayers
import RetintTensors

/// Normalizations.
enum Normalizations: OperationFamily {
    static let rules: [String: OperationRule] = [
        "BatchNormalization": OperationRule(parameters: [1, 2], buffers: [3, 4], batch),
        "InstanceNormalization": OperationRule(parameters: [1, 2]) { node in
            let x = try node.tensor(0)
            guard x.shape.rank > 2 else { throw node.error("it takes [N, C, …], not \(x.shape)") }
            let y = try normalized(x, Array(2..<x.shape.rank), node).value
            let (gain, bias) = (try node.tensor(1), try node.tensor(2))
            return [
                .tensor(
                    y * perChannel(gain, like: x) + perChannel(bias, like: x),
                    try node.value(0).type)
            ]
        },
        "LayerNormalization": OperationRule(parameters: [1, 2], layer),
        "GroupNormalization": OperationRule(parameters: [1, 2], group),
        "MeanVarianceNormalization": OperationRule { node in
            let x = try node.tensor(0)
            let axes = try node.axes(
                try node.integers("axes") ?? [0, 2, 3], rank: x.shape.rank)
            let centered = x - x.mean(axes: axes, keepDims: true)
            let variance = (centered * centered).mean(axes: axes, keepDims: true)
            return [.tensor(centered / (sqrt(variance) + 1e-9), try node.value(0).type)]
        },
        "LpNormalization": OperationRule { node in
            let x = try node.tensor(0)
            let axis = try node.axis(try node.integer("axis", default: -1), rank: x.shape.rank)
            let order = try node.integer("p", default: 2)
            guard [1, 2].contains(order) else { throw node.error("p is \(order), not 1 or 2") }
            let sum = (order == 1 ? abs(x) : x * x).sum(axes: [axis], keepDims: true)
            return [.tensor(x / (order == 1 ? sum : sqrt(sum)), try node.value(0).type)]
        },
        "LRN": OperationRule(localResponse),
    ]

    /// With running statistics that are initializers, it trains as in PyTorch: it normalizes with
    /// the batch's statistics and updates the running ones.
    @Sendable private static func batch(_ node: NodeContext) throws -> [ONNXValue] {
        try node.requireOneOutput()
        let x = try node.tensor(0)
        guard x.shape.rank >= 2 else { throw node.error("it takes [N, C, …], not \(x.shape)") }
        guard try node.flag("spatial", default: true) else {
            throw node.error("statistics of each pixel (spatial=0) are not supported")
        }
        let (weight, bias) = (try node.tensor(1), try node.tensor(2))
        let (mean, variance) = (try node.tensor(3), try node.tensor(4))
        let epsilon = try node.float("epsilon", default: 1e-5)
        let y: Tensor
        if try node.flag("training_mode") {
            y = batchNormTraining(x, weight: weight, bias: bias, epsilon: epsilon).output
        } else if mean.operation is Variable, variance.operation is Variable {
            let statistics = RunningStatistics(
                mean: mean, variance: variance,
                momentum: 1 - (try node.float("momentum", default: 0.9)))
            y = batchNorm(x, weight: weight, bias: bias, statistics, epsilon: epsilon)
        } else {
            y = batchNorm(
                x, weight: weight, bias: bias, mean: mean, variance: variance, epsilon: epsilon)
        }
        return [.tensor(y, try node.value(0).type)]
    }

    private static func normalized(
        _ x: Tensor, _ axes: [Int], _ node: NodeContext
    ) throws -> (value: Tensor, mean: Tensor, inverse: Tensor) {
        let epsilon = try node.float("epsilon", default: 1e-5)
        let mean = x.mean(axes: axes, keepDims: true)
        let centered = x - mean
        let variance = (centered * centered).mean(axes: axes, keepDims: true)
        let deviation = sqrt(variance + epsilon)
        return (centered / deviation, mean, 1 / deviation)
    }

    @Sendable private static func layer(_ node: NodeContext) throws -> [ONNXValue] {
        let x = try node.tensor(0)
        let first = try node.axis(try node.integer("axis", default: -1), rank: x.shape.rank)
        let (y, mean, inverse) = try normalized(x, Array(first..<x.shape.rank), node)
        var result = y * (try node.tensor(1))
        if let bias = try node.optionalTensor(2) { result = result + bias }
        return [
            .tensor(result, try node.value(0).type), .tensor(mean, .float),
            .tensor(inverse, .float),
        ]
    }

    /// The gain and bias are per group in opset 18, per channel since.
    @Sendable private static func group(_ node: NodeContext) throws -> [ONNXValue] {
        let x = try node.tensor(0)
        let groups = try node.count("num_groups", default: 0)
        guard x.shape.rank >= 3, x.shape[1] % groups == 0 else {
            throw node.error("\(groups) groups do not fit \(x.shape)", ONNXError.damaged)
        }
        let (channels, rest) = (x.shape[1], Array(x.shape.dimensions.dropFirst(2)))
        let apart = x.reshaped(
            Shape([x.shape[0], groups, channels / groups * rest.reduce(1, *)]))
        let y = try normalized(apart, [2], node).value.reshaped(x.shape)
        let vectors = try [1, 2].map { index in
            let vector = try node.tensor(index)
            guard vector.shape == [groups], groups != channels else {
                return perChannel(vector, like: x)
            }
            let spread = vector.reshaped([groups, 1]).broadcast(to: [groups, channels / groups])
            return perChannel(spread.reshaped([channels]), like: x)
        }
        return [.tensor(y * vectors[0] + vectors[1], try node.value(0).type)]
    }

    /// x / (bias + α·mean of x² over neighboring channels)^β, with zeros outside the channels.
    @Sendable private static func localResponse(_ node: NodeContext) throws -> [ONNXValue] {
        let x = try node.tensor(0)
        let size = try node.integer("size", default: 1)
        guard x.shape.rank >= 3, (1...1024).contains(size) else {
            throw node.error("a size of \(size) does not fit \(x.shape)")
        }
        let y = localResponseNorm(
            x, size: size, alpha: try node.float("alpha", default: 1e-4),
            beta: try node.float("beta", default: 0.75), k: try node.float("bias", default: 1))
        return [.tensor(y, try node.value(0).type)]
    }
}
