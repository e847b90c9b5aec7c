import CRetintKernels

/// The format in which convolutions multiply. Everything else is computed in float32.
///
/// In 16 bits, fixed weights are kept in half the memory. A CPU that multiplies 16-bit values
/// faster than float32 ones is given activations in 16 bits, too; others convert the weights back.
public enum Arithmetic: String, CaseIterable, Sendable {
    /// 32 bits.
    case float32
    /// 16 bits, with 10 for the fraction; tensors are scaled by powers of two to its range.
    case float16
    /// 16 bits, with 7 for the fraction and the range of float32.
    case bfloat16
    /// 32 bits, of which a GPU may leave out 13 of the fraction when it multiplies
    /// (`torch.backends.cuda.matmul.allow_tf32`).
    case tf32

    /// Whether this CPU multiplies matrices in the format at least as fast as in float32.
    public var isFast: Bool { format == RT_FLOAT32 || rt_half_products(format) == RT_HALF_FASTER }

    /// How products are computed, for messages.
    ///
    /// - Parameters:
    ///   - device: what computes them.
    ///   - trains: whether weights change, which are then kept in float32.
    public func summary(on device: Execution.Device = .cpu, trains: Bool = false) -> String {
        if device == .reference { return "float64" }
        if device.isGPU || isFast { return rawValue }
        return trains
            ? Self.float32.rawValue : "\(Self.float32.rawValue), with weights in \(rawValue)"
    }

    /// The fastest format on this CPU, and of several equally fast ones the most accurate.
    public static var fastest: Arithmetic {
        [.float16, .bfloat16].first(where: \.isFast) ?? .float32
    }

    var format: rt_format {
        switch self {
        case .float32, .tf32: RT_FLOAT32
        case .float16: RT_FLOAT16
        case .bfloat16: RT_BFLOAT16
        }
    }
}
