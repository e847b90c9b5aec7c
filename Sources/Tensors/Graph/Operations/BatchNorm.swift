package import RetintTensors

/// Batch normalization with given statistics (`torch.nn.functional.batch_norm`, inference).
///
/// y = weight·(x − mean)/√(variance + ε) + bias; x is [N, C, …], the others [C].
/// Inputs: x, weight, bias, mean, variance.
package struct BatchNormInference: Operation {
    package static let name = "batch_norm"
    package let epsilon: Float

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 5...5)
        return try channelShape(inputs[0], vectors: inputs[1...])
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let x = backward.inputs[0]
        let (weight, dy) = (backward.inputs[1], backward.gradient)
        let (mean, variance) = (backward.inputs[3], backward.inputs[4])
        let axes = axesButChannels(x.shape)
        let inverse = 1 / sqrt(variance + epsilon)
        let centered = x - perChannel(mean, like: x)
        let products = (dy * centered).sum(axes: axes)
        return [
            backward.ifNeeded(0) { dy * perChannel(weight * inverse, like: x) },
            backward.ifNeeded(1) { products * inverse },
            backward.ifNeeded(2) { dy.sum(axes: axes) },
            backward.ifNeeded(3) { -(dy.sum(axes: axes) * weight * inverse) },
            backward.ifNeeded(4) { products * weight * inverse * inverse * inverse * -0.5 },
        ]
    }
}

/// The mean (row 0) and the biased variance (row 1) of each channel: [N, C, …] → [2, C].
package struct BatchMoments: Operation {
    package static let name = "batch_moments"

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 1...1)
        try require(inputs[0].rank >= 2, "input must be [N, C, …], has shape \(inputs[0])")
        try require(
            inputs[0].count > inputs[0][1], "needs more than one value per channel when training")
        return [2, inputs[0][1]]
    }
}

/// Batch normalization with the batch's own moments (`batch_norm`, training).
///
/// Inputs: x, weight, bias, moments (``BatchMoments`` of x). The gradient with respect to x
/// includes the part that passes through the moments; those of weight and bias are over only the
/// examples of this process, like all gradients of parameters.
package struct BatchNormTraining: Operation {
    package static let name = "batch_norm_training"
    package let epsilon: Float
    /// The ranks whose moments were combined; nil for only this process.
    package let shares: BatchShares?

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 4...4)
        try require(
            inputs[0].rank >= 2 && inputs[3] == [2, inputs[0][1]], "moments must be [2, C]")
        return try channelShape(inputs[0], vectors: inputs[1...2])
    }

    package func gradients(_ backward: Backward) -> [Tensor?] {
        let (x, weight, moments) = (backward.inputs[0], backward.inputs[1], backward.inputs[3])
        let (graph, dy) = (x.graph, backward.gradient)
        let sums = graph.apply(BatchNormGradientSums(epsilon: epsilon), [x, moments, dy])
        let channels = x.shape[1]
        return [
            backward.ifNeeded(0) {
                let rule = BatchNormInputGradient(epsilon: epsilon)
                let all = shares.map { sums.applying(CombinedSums(shares: $0)) } ?? sums
                return graph.apply(rule, [x, weight, moments, dy, all])
            },
            backward.ifNeeded(1) { sums.sliced(axis: 0, 1..<2).reshaped([channels]) },
            backward.ifNeeded(2) { sums.sliced(axis: 0, 0..<1).reshaped([channels]) },
            nil,
        ]
    }
}

/// Per channel Σ dy (row 0) and Σ dy·x̂ (row 1) of ``BatchNormTraining``: the gradients of its bias
/// and weight. Inputs: x, moments, dy.
package struct BatchNormGradientSums: Operation {
    package static let name = "batch_norm_sums"
    package let epsilon: Float

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 3...3)
        try require(inputs[2] == inputs[0], "the gradient must have x's shape")
        return inputs[1]
    }
}

/// The gradient of ``BatchNormTraining`` with respect to x, including the part through the moments:
/// weight/√(variance + ε) · (dy − Σdy/n − x̂·Σ(dy·x̂)/n). Inputs: x, weight, moments, dy, sums.
package struct BatchNormInputGradient: Operation {
    package static let name = "batch_norm_input"
    package let epsilon: Float

    package func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 5...5)
        try require(inputs[3] == inputs[0], "the gradient must have x's shape")
        return inputs[0]
    }
}

private func channelShape(
    _ x: Shape, vectors: ArraySlice<Shape>
) throws(ShapeError) -> Shape {
    try require(x.rank >= 2, "input must be [N, C, …], has shape \(x)")
    for vector in vectors {
        try require(vector == [x[1]], "statistics and weights must have shape [\(x[1])]")
    }
    return x
}

private func axesButChannels(_ shape: Shape) -> [Int] {
    (0..<shape.rank).filter { $0 != 1 }
}

/// A vector with a value for each channel, reshaped so that it broadcasts along x's channels.
package func perChannel(_ vector: Tensor, like x: Tensor) -> Tensor {
    var shape = Shape([Int](repeating: 1, count: Swift.max(x.shape.rank, 2)))
    shape[1] = vector.shape.count
    return vector.reshaped(shape)
}

/// Normalizes with given statistics.
public func batchNorm(
    _ x: Tensor, weight: Tensor, bias: Tensor, mean: Tensor, variance: Tensor,
    epsilon: Float = 1e-5
) -> Tensor {
    x.graph.apply(BatchNormInference(epsilon: epsilon), [x, weight, bias, mean, variance])
}

/// Normalizes with the batch's own statistics.
///
/// - Returns: the normalized x, and the batch's moments, [2, C]: means, then biased variances.
public func batchNormTraining(
    _ x: Tensor, weight: Tensor, bias: Tensor, epsilon: Float = 1e-5
) -> (output: Tensor, moments: Tensor) {
    let shares = x.graph.batchNormShares
    let own = x.applying(BatchMoments())
    let moments = shares.map { own.applying(CombinedMoments(shares: $0)) } ?? own
    let operation = BatchNormTraining(epsilon: epsilon, shares: shares)
    return (x.graph.apply(operation, [x, weight, bias, moments]), moments)
}
