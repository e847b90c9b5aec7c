// Functions composed of several operations, for formats that have them as single operations.

/// The error function (`torch.erf`).
///
/// Abramowitz and Stegun, formula 7.1.26; its absolute error is below 1.5e-7.
package func errorFunction(_ x: Tensor) -> Tensor {
    let magnitude = abs(x)
    let t = 1 / (magnitude * 0.327_591_1 + 1)
    let coefficients: [Float] = [
        1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592,
    ]
    let polynomial = coefficients.dropFirst().reduce(t * coefficients[0]) { ($0 + $1) * t }
    let sign = greater(x, 0) - greater(0, x)
    return sign * (1 - polynomial * exp(-(magnitude * magnitude)))
}

/// log(1 + eˣ) without overflow for large x (`torch.nn.functional.softplus`).
package func softplus(_ x: Tensor) -> Tensor {
    relu(x) + log(exp(-abs(x)) + 1)
}

/// x·Φ(x) (`torch.nn.functional.gelu`).
package func gelu(_ x: Tensor) -> Tensor {
    x * 0.5 * (errorFunction(x * 0.707_106_77) + 1)
}

/// GELU with a hyperbolic tangent in place of Φ (`gelu(approximate="tanh")`).
package func geluTanh(_ x: Tensor) -> Tensor {
    x * 0.5 * (tanh((x + x * x * x * 0.044_715) * 0.797_884_6) + 1)
}
