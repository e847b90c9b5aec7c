import RetintGraph
import RetintTensors

/// The distribution of a parameter's initial values, one of `torch.nn.init`.
public enum Initializer: Hashable, Sendable {
    /// The count that a variance is divided by: inputs or outputs of one element.
    public enum Fan: Hashable, Sendable {
        /// PyTorch's `fan_in` and `fan_out`.
        case `in`, out
    }

    /// One value for all elements: `constant_`.
    case constant(Float)
    /// Uniform in `low`..<`high`: `uniform_`.
    case uniform(low: Double, high: Double)
    /// Normal: `normal_`.
    case normal(mean: Double, deviation: Double)
    /// Uniform within ±√3·gain/√(fan in), gain = √(2/(1 + slope²)): `kaiming_uniform_`.
    case kaimingUniform(slope: Double)
    /// Normal with deviation √2/√fan: `kaiming_normal_` for ReLU.
    case kaimingNormal(Fan)
    /// Uniform within ±gain·√(6/(fan in + fan out)): `xavier_uniform_`.
    case xavierUniform(gain: Double)
    /// Normal with deviation gain·√(2/(fan in + fan out)): `xavier_normal_`.
    case xavierNormal(gain: Double)
    /// Given values, in the tensor's order.
    case values([Float])

    /// 0 for all elements.
    public static let zeros = Initializer.constant(0)
    /// 1 for all elements.
    public static let ones = Initializer.constant(1)
    /// PyTorch's default for the weight of a convolution or a linear layer.
    public static let standardWeight = Initializer.kaimingUniform(slope: 5.0.squareRoot())

    /// PyTorch's default for the bias beside a weight of this shape: uniform, ±1/√(fan in).
    public static func standardBias(weight shape: Shape) -> Initializer {
        let bound = 1 / Double(fans(shape).in).squareRoot()
        return .uniform(low: -bound, high: bound)
    }

    /// Draws the values of a tensor of `shape`.
    ///
    /// - Precondition: ``values(_:)`` has as many values as the shape has elements.
    public func values(_ shape: Shape, _ random: inout RandomStream) -> TensorData {
        switch distribution(for: shape) {
        case .constant(let value):
            return TensorData(shape: shape, repeating: value)
        case .values(let values):
            precondition(values.count == shape.count, "one initial value per element")
            return TensorData(shape: shape, scalars: values)
        case .uniform(let low, let high):
            return drawn(shape) { low + (high - low) * random.uniform() }
        case .normal(let mean, let deviation):
            return drawn(shape) { mean + deviation * random.normal() }
        }
    }

    private enum Distribution {
        case constant(Float)
        case values([Float])
        case uniform(Double, Double)
        case normal(Double, Double)
    }

    private func distribution(for shape: Shape) -> Distribution {
        let fans = fans(shape)
        let (fanIn, both) = (Double(fans.in), Double(fans.in + fans.out))
        switch self {
        case .constant(let value): return .constant(value)
        case .values(let values): return .values(values)
        case .uniform(let low, let high): return .uniform(low, high)
        case .normal(let mean, let deviation): return .normal(mean, deviation)
        case .kaimingUniform(let slope):
            let bound = (6 / (1 + slope * slope) / fanIn).squareRoot()
            return .uniform(-bound, bound)
        case .kaimingNormal(let fan):
            return .normal(0, (2 / (fan == .in ? fanIn : Double(fans.out))).squareRoot())
        case .xavierUniform(let gain):
            let bound = gain * (6 / both).squareRoot()
            return .uniform(-bound, bound)
        case .xavierNormal(let gain):
            return .normal(0, gain * (2 / both).squareRoot())
        }
    }

    private func drawn(_ shape: Shape, _ draw: () -> Double) -> TensorData {
        TensorData(shape: shape, scalars: (0..<shape.count).map { _ in Float(draw()) })
    }
}

/// Inputs and outputs of one element of a weight, as PyTorch counts them: axis 1 and axis 0 times
/// the kernel's area, for transposed convolutions as well.
private func fans(_ shape: Shape) -> (in: Int, out: Int) {
    guard shape.rank >= 2 else { return (max(shape.count, 1), max(shape.count, 1)) }
    let area = shape.dimensions.dropFirst(2).reduce(1, *)
    return (max(shape[1] * area, 1), max(shape[0] * area, 1))
}
