import RetintGraph

/// The Euclidean norm of all gradients together, rank 0; there must be at least one.
private func globalNorm(_ gradients: [Tensor]) -> Tensor {
    let squares = gradients.map { ($0 * $0).sum() }
    return sqrt(squares.dropFirst().reduce(squares[0], +))
}

/// Scales all gradients so that their common norm is at most `maximum`
/// (`torch.nn.utils.clip_grad_norm_`).
///
/// - Returns: the scaled gradients and the norm from before, rank 0.
public func clipGradNorm(
    _ gradients: [Tensor], maximum: Float
) -> (gradients: [Tensor], norm: Tensor) {
    guard !gradients.isEmpty else { return ([], Graph().constant(0)) }
    let norm = globalNorm(gradients)
    let factor = clip(maximum / (norm + 1e-6), min: 0, max: 1)
    return (gradients.map { $0 * factor }, norm)
}
