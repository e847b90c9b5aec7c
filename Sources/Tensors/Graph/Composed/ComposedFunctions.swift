// Functions composed of several operations, for formats that have them as single operations.

/// log(1 + eˣ) without overflow for large x (`torch.nn.functional.softplus`).
package func softplus(_ x: Tensor) -> Tensor {
    relu(x) + log(exp(-abs(x)) + 1)
}

/// x·Φ(x) (`torch.nn.functional.gelu`).
package func gelu(_ x: Tensor) -> Tensor {
    x * 0.5 * (erf(x * 0.707_106_77) + 1)
}

/// GELU with a hyperbolic tangent in place of Φ (`gelu(approximate="tanh")`).
package func geluTanh(_ x: Tensor) -> Tensor {
    x * 0.5 * (tanh((x + x * x * x * 0.044_715) * 0.797_884_6) + 1)
}

/// x / (k + α·mean of x² over neighboring channels)^β, with zeros outside the channels
/// (ONNX's `LRN`, and `torch.nn.functional.local_response_norm` for odd sizes).
///
/// - Parameter x: [N, C, …].
package func localResponseNorm(
    _ x: Tensor, size: Int, alpha: Float, beta: Float, k: Float
) -> Tensor {
    let (channels, rest) = (x.shape[1], Array(x.shape.dimensions.dropFirst(2)))
    let planes = (x * x).reshaped([x.shape[0], 1, channels, rest.reduce(1, *)])
    let mean = avgPool2d(
        planes, kernel: Pair(size, 1), stride: 1,
        padding: Padding(top: (size - 1) / 2, bottom: size / 2, left: 0, right: 0))
    return x / pow(mean.reshaped(x.shape) * alpha + k, beta)
}
