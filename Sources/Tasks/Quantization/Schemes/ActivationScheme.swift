import RetintMIL
import RetintMLPackage

/// How the inputs of an operation are stored in 8 bits: as integers with one scale, as coremltools'
/// `linear_quantize_activations` stores them.
///
/// The package rounds such a value and restores it, `quantize` and `dequantize`. Where a device
/// multiplies integers, it leaves both out between two operations.
public struct ActivationScheme: Hashable, Sendable {
    /// The data type of the integers.
    public enum Integers: String, CaseIterable, Sendable {
        /// From −128 to 127.
        case int8
        /// From 0 to 255.
        case uint8
    }

    /// How the range of a value follows from calibration; numbers outside it are clipped.
    public enum Range: Hashable, Sendable {
        /// From the smallest to the largest number.
        case minmax
        /// What holds this percentage of the numbers; the rest is cut in equal shares at both ends.
        case percentile(Double)
        /// The range with the least mean square error.
        case mse
        /// The range whose integers have the distribution that is closest to that of the numbers,
        /// by the Kullback-Leibler divergence (as in TensorRT).
        case entropy
    }

    /// The data type of the integers.
    public var integers: Integers
    /// Symmetric ranges, or linear ones with a zero point.
    public var mode: QuantizationScheme.Mode
    /// How ranges are chosen.
    public var range: Range

    /// A scheme.
    public init(
        _ integers: Integers = .int8, mode: QuantizationScheme.Mode = .symmetric,
        range: Range = .mse
    ) {
        (self.integers, self.mode, self.range) = (integers, mode, range)
    }

    /// The operations whose inputs are quantized unless a plan says otherwise: those of
    /// coremltools, and the others that have weights. A `matmul` of two values is not among them.
    public static let standardTypes: Set<String> = [
        "add", "avg_pool", "conv", "conv_transpose", "linear", "matmul", "max_pool",
    ]

    /// The earliest deployment target with `quantize` and `dequantize`.
    static var firstTarget: DeploymentTarget { .iOS17 }

    var dataType: MILDataType { integers == .int8 ? .int8 : .uint8 }

    /// Checks that a package for `target` supports quantized activations; iOS15 is raised, as for
    /// weights.
    ///
    /// - Throws: `ConversionError` for an earlier target, and for a percentile out of range.
    func check(_ target: DeploymentTarget) throws {
        if case .percentile(let share) = range, !(share > 50 && share <= 100) {
            throw ConversionError.option(
                "percentile \(share)", "a percentile is above 50 and at most 100",
                "Choose one such as 99.99.")
        }
        try target.require(
            Self.firstTarget, "activations", "quantize them: that needs",
            "Export again for \(Self.firstTarget).")
    }
}

extension ActivationScheme: CustomStringConvertible {
    /// For example `int8 symmetric mse`.
    public var description: String { "\(integers.rawValue) \(mode.rawValue) \(range)" }
}

extension ActivationScheme.Range: LosslessStringConvertible {
    /// The share of numbers that `percentile` keeps without a number of its own.
    private static let usualPercentile = 99.99

    /// The names that `init(_:)` accepts; `percentile` may be followed by a number, as in
    /// `percentile99.9`.
    public static let allNames = ["minmax", "percentile", "mse", "entropy"]

    /// Parses a name such as `mse` or `percentile99.9`; nil if there is no such range.
    public init?(_ description: String) {
        switch description {
        case "minmax": self = .minmax
        case "mse": self = .mse
        case "entropy": self = .entropy
        case "percentile": self = .percentile(Self.usualPercentile)
        default:
            guard description.hasPrefix("percentile"),
                let share = Double(description.dropFirst("percentile".count)), share.isFinite
            else { return nil }
            self = .percentile(share)
        }
    }

    /// The name.
    public var description: String {
        switch self {
        case .minmax: "minmax"
        case .percentile(let share): "percentile\(share)"
        case .mse: "mse"
        case .entropy: "entropy"
        }
    }
}
