import TensorGraph

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
    /// PyTorch's count of training batches, which is stored and not used.
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
        let (scale, shift) = (weight.tensor(in: graph), bias.tensor(in: graph))
        guard graph.mode == .training else {
            return batchNorm(
                x, weight: scale, bias: shift, mean: runningMean.tensor(in: graph),
                variance: runningVar.tensor(in: graph), epsilon: epsilon)
        }
        let (output, moments) = batchNormTraining(x, weight: scale, bias: shift, epsilon: epsilon)
        if graph.error == nil {
            let values = x.shape.count / x.shape[1]
            follow(moments, valuesPerChannel: graph.batchNormShares?.total(of: values) ?? values)
        }
        return output
    }

    /// running ← (1 − momentum)·running + momentum·batch, with the unbiased variance.
    private func follow(_ moments: Tensor, valuesPerChannel count: Int) {
        let graph = moments.graph
        let channels = moments.shape[1]
        let unbiased = Float(count) / Float(count - 1)
        let rows = [(runningMean, Float(1)), (runningVar, unbiased)]
        for (row, (parameter, correction)) in rows.enumerated() {
            let running = parameter.tensor(in: graph)
            let batch = moments.sliced(axis: 0, row..<(row + 1)).reshaped([channels])
            graph.update(
                running, to: running * (1 - momentum) + batch * (momentum * correction))
        }
    }
}
