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
