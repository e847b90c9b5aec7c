import MLPackage
import TensorGraph

/// `erf`.
enum ErrorFunction: ComposedUnaryForm {
    static let functions: [String: @Sendable (Tensor, RaisedOperation) throws -> Tensor] = [
        "erf": { x, _ in raised(x) }
    ]

    /// Abramowitz and Stegun, formula 7.1.26; its absolute error is below 1.5e-7.
    static func raised(_ x: Tensor) -> Tensor {
        let magnitude = abs(x)
        let t = 1 / (magnitude * 0.327_591_1 + 1)
        let coefficients: [Float] = [
            1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592,
        ]
        let polynomial = coefficients.dropFirst().reduce(t * coefficients[0]) { ($0 + $1) * t }
        let sign = greater(x, 0) - greater(0, x)
        return sign * (1 - polynomial * exp(-(magnitude * magnitude)))
    }
}
