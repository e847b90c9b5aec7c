import TensorGraph

/// mean |x − y| (`torch.nn.functional.l1_loss`), rank 0.
public func l1Loss(_ prediction: Tensor, _ target: Tensor) -> Tensor {
    abs(prediction - target).mean()
}

/// mean (x − y)² (`torch.nn.functional.mse_loss`), rank 0.
public func mseLoss(_ prediction: Tensor, _ target: Tensor) -> Tensor {
    let difference = prediction - target
    return (difference * difference).mean()
}

/// The mean of d²/2 up to |d| = `delta`, of delta·(|d| − delta/2) beyond
/// (`torch.nn.functional.huber_loss`), rank 0.
public func huberLoss(_ prediction: Tensor, _ target: Tensor, delta: Float = 1) -> Tensor {
    let distance = abs(prediction - target)
    // One formula for both parts: the quadratic one stops where the linear one starts.
    let near = minimum(distance, distance.graph.constant(delta))
    return (near * near * 0.5 + (distance - near) * delta).mean()
}

/// The Huber loss divided by `beta` (`torch.nn.functional.smooth_l1_loss`), rank 0.
public func smoothL1Loss(_ prediction: Tensor, _ target: Tensor, beta: Float = 1) -> Tensor {
    huberLoss(prediction, target, delta: beta) / beta
}

/// −Σ t·log softmax(x) along `axis`, averaged over the rest: `torch.nn.functional.cross_entropy`
/// with class probabilities as targets; rank 0.
///
/// - Parameter weights: a factor for each place, of the targets' shape with extent 1 at `axis`
///   (class rebalancing); the mean still divides by the number of places.
public func crossEntropy(
    _ logits: Tensor, _ targets: Tensor, axis: Int = 1, weights: Tensor? = nil
) -> Tensor {
    let places = -(logSoftmax(logits, axis: axis) * targets).sum(axes: [axis], keepDims: true)
    return (weights.map { places * $0 } ?? places).mean()
}
