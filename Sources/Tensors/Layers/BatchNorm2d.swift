import RetintGraph

/// Batch normalization (`torch.nn.BatchNorm2d`) of [N, C, H, W].
///
/// In a graph for training it normalizes with the batch's moments and updates the running
/// statistics; in a graph for inference it normalizes with the running statistics.
public final class BatchNorm2d: Module, Layer {
    /// The factor of each channel, [C].
    public let weight: Parameter
    /// The offset of each channel, [C].
    public let bias: Parameter
    /// The running mean of each channel, [C].
    public let runningMean: Parameter
    /// The running variance of each channel, [C].
    public let runningVar: Parameter
    /// PyTorch's count of training batches, which is stored but not used.
    public let numBatchesTracked = Counter()
    /// Added to the variance before the root is taken.
    public let epsilon: Float
    /// The weight of the newest batch in the running statistics.
    public let momentum: Float

    /// Creates the layer, with PyTorch's defaults and initial values.
    ///
    /// - Parameters:
    ///   - channels: the number of channels, C.
    ///   - epsilon: added to the variance before the root is taken.
    ///   - momentum: the weight of the newest batch in the running statistics, 0…1.
    public init(_ channels: Int, epsilon: Float = 1e-5, momentum: Float = 0.1) {
        weight = Parameter([channels], initializer: .ones)
        bias = Parameter([channels], initializer: .zeros)
        runningMean = Parameter([channels], role: .buffer, initializer: .zeros)
        runningVar = Parameter([channels], role: .buffer, initializer: .ones)
        self.epsilon = epsilon
        self.momentum = momentum
    }

    /// Normalizes each channel of [N, C, H, W]; in a graph for training it also records the update
    /// of the running statistics.
    public func forward(_ x: Tensor) -> Tensor {
        let graph = x.graph
        let statistics = RunningStatistics(
            mean: runningMean.tensor(in: graph), variance: runningVar.tensor(in: graph),
            momentum: momentum)
        return batchNorm(
            x, weight: weight.tensor(in: graph), bias: bias.tensor(in: graph), statistics,
            epsilon: epsilon)
    }
}

/// The running statistics of a batch normalization: variables of the graph, [C].
package struct RunningStatistics {
    package let mean: Tensor
    package let variance: Tensor
    /// The weight of the newest batch, 0…1.
    package let momentum: Float

    package init(mean: Tensor, variance: Tensor, momentum: Float) {
        (self.mean, self.variance, self.momentum) = (mean, variance, momentum)
    }

    /// running ← (1 − momentum)·running + momentum·batch, with the unbiased variance.
    fileprivate func follow(_ moments: Tensor, valuesPerChannel count: Int) {
        let graph = moments.graph
        let channels = moments.shape[1]
        let unbiased = Float(count) / Float(count - 1)
        for (row, (running, correction)) in [(mean, Float(1)), (variance, unbiased)].enumerated() {
            let batch = moments.sliced(axis: 0, row..<(row + 1)).reshaped([channels])
            graph.update(
                running, to: running * (1 - momentum) + batch * (momentum * correction))
        }
    }
}

/// Normalizes each channel of [N, C, …]: in a graph for inference with the running statistics, in
/// one for training with the batch's, which the running ones then follow.
package func batchNorm(
    _ x: Tensor, weight: Tensor, bias: Tensor, _ statistics: RunningStatistics, epsilon: Float
) -> Tensor {
    let graph = x.graph
    guard graph.mode == .training else {
        return batchNorm(
            x, weight: weight, bias: bias, mean: statistics.mean, variance: statistics.variance,
            epsilon: epsilon)
    }
    let (output, moments) = batchNormTraining(x, weight: weight, bias: bias, epsilon: epsilon)
    if graph.error == nil {
        let values = x.shape.count / x.shape[1]
        statistics.follow(
            moments, valuesPerChannel: graph.batchNormShares?.total(of: values) ?? values)
    }
    return output
}
