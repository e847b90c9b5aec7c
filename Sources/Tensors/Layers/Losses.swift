import RetintGraph

/// How a loss's elements are combined (PyTorch's `reduction`).
public enum Reduction: Hashable, Sendable {
    /// Not at all.
    case none
    /// Their mean, rank 0.
    case mean

    fileprivate func apply(to elements: Tensor) -> Tensor {
        self == .mean ? elements.mean() : elements
    }
}

/// |x − y| (`torch.nn.functional.l1_loss`).
public func l1Loss(
    _ prediction: Tensor, _ target: Tensor, reduction: Reduction = .mean
) -> Tensor {
    reduction.apply(to: abs(prediction - target))
}

/// (x − y)² (`torch.nn.functional.mse_loss`).
public func mseLoss(
    _ prediction: Tensor, _ target: Tensor, reduction: Reduction = .mean
) -> Tensor {
    let difference = prediction - target
    return reduction.apply(to: difference * difference)
}

/// d²/2 up to |d| = `delta`, delta·(|d| − delta/2) beyond (`torch.nn.functional.huber_loss`).
public func huberLoss(
    _ prediction: Tensor, _ target: Tensor, delta: Float = 1, reduction: Reduction = .mean
) -> Tensor {
    let distance = abs(prediction - target)
    // One formula for both parts: the quadratic one is constant where the linear one grows.
    let near = minimum(distance, distance.graph.constant(delta))
    return reduction.apply(to: near * near * 0.5 + (distance - near) * delta)
}

/// The Huber loss divided by `beta` (`torch.nn.functional.smooth_l1_loss`).
public func smoothL1Loss(
    _ prediction: Tensor, _ target: Tensor, beta: Float = 1, reduction: Reduction = .mean
) -> Tensor {
    huberLoss(prediction, target, delta: beta, reduction: reduction) / beta
}

/// The mean squared difference of similarities. The similarity of the features at two positions of
/// an image is the cosine of the angle between them (Liu et al., "Structured Knowledge
/// Distillation for Semantic Segmentation", 2019).
///
/// - Parameter features, target: [N, C, H, W]; C may differ.
public func pairwiseLoss(
    _ features: Tensor, _ target: Tensor, reduction: Reduction = .mean
) -> Tensor {
    mseLoss(similarities(features), similarities(target), reduction: reduction)
}

/// The cosines of all pairs of positions: [N, C, H, W] to [N, H·W, H·W].
private func similarities(_ features: Tensor) -> Tensor {
    let shape = features.shape
    let norms = sqrt((features * features).sum(axes: [1], keepDims: true) + 1e-12)
    let columns = (features / norms).reshaped([shape[0], shape[1], shape[2] * shape[3]])
    return matmul(columns, columns, transposeX: true)
}

/// −Σ t·log softmax(x) along `axis`: `torch.nn.functional.cross_entropy` with class probabilities
/// as targets. Not reduced, it keeps the axis, with extent 1.
///
/// - Parameter weights: a factor for each element of the result, of the targets' shape with extent
///   1 at `axis` (class rebalancing); the mean still divides by the number of elements.
public func crossEntropy(
    _ logits: Tensor, _ targets: Tensor, axis: Int = 1, weights: Tensor? = nil,
    reduction: Reduction = .mean
) -> Tensor {
    let losses = -(logSoftmax(logits, axis: axis) * targets).sum(axes: [axis], keepDims: true)
    return reduction.apply(to: weights.map { losses * $0 } ?? losses)
}
