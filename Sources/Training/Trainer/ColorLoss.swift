import TensorGraph

extension TrainingConfiguration.Loss {
    /// The loss of each example, [N].
    ///
    /// - Parameters: estimate and target, a and b divided by 110: [N, 2, H, W].
    func callAsFunction(_ estimate: Tensor, _ target: Tensor) -> Tensor {
        var values = pointwise(estimate - target)
        if saturation > 0 {
            // Gray is right for most pixels; without more weight on the others, all turns gray.
            let chroma = sqrt((target * target).sum(axes: [1], keepDims: true))
            values = values * (1 + chroma * Float(saturation))
        }
        return values.mean(axes: [1, 2, 3])
    }

    private func pointwise(_ difference: Tensor) -> Tensor {
        switch kind {
        case .l1: return abs(difference)
        case .mse: return difference * difference
        case .huber:
            let distance = abs(difference)
            let near = minimum(distance, distance.graph.constant(Float(delta)))
            return near * near * 0.5 + (distance - near) * Float(delta)
        }
    }
}
