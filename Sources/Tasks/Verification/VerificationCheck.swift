/// One bound, as it applies to one output, to the colors or to one intermediate value.
public struct VerificationCheck: Hashable, Sendable {
    /// The kind of the bound.
    package let rule: VerificationRule
    /// The name of the output or of the intermediate value; `colors` for the colors.
    package let subject: String
    /// A sentence with the measured value and the bound; nil if the bound holds.
    package let failure: String?

    init(_ rule: VerificationRule, _ subject: String, _ failure: String?) {
        self.rule = rule
        self.subject = subject
        self.failure = failure
    }
}

/// The kinds of bounds; the raw values are those that reports for other programs use.
package enum VerificationRule: String, Hashable, Sendable, CaseIterable {
    /// No value of an output is NaN or infinite.
    case finite = "finite"
    /// Each value of an output is within |c − e| ≤ atol + rtol·|e|.
    case eachValue = "error"
    /// The mean |c − e| of an output has an upper bound.
    case meanAbs = "mean-error"
    /// The PSNR of an output has a lower bound.
    case psnr = "psnr"
    /// The SNR of an output has a lower bound.
    case snr = "snr"
    /// The error of an output, relative to that of half precision, has an upper bound.
    case halfRatio = "half-ratio"
    /// The mean CIEDE2000 difference of the colors has an upper bound.
    case meanDeltaE = "delta-e2000"
    /// The largest error of an intermediate value has an upper bound.
    case layerError = "layer-error"
    /// The SNR of an intermediate value has a lower bound.
    case layerSNR = "layer-snr"
    /// The error of an output, relative to what float32 loses, has an upper bound.
    case roundingRatio = "rounding-ratio"
    /// The error of an intermediate value, relative to what float32 loses, has an upper bound.
    case layerRounding = "layer-rounding"
    /// Each requested runtime ran the model.
    case judged = "judged"
    /// The largest |c − e| of an output, relative to its largest |e|, has an upper bound.
    case maxRelative = "relative-error"
    /// A weight that is the reference's in most elements is so in all.
    case weight = "weight"
    /// No input was found on which the model has NaN or infinity.
    case certificate = "certificate"
    /// The labels of a classifier are those of the other model.
    case labels = "labels"

    /// The bound in a sentence.
    package var summary: String {
        switch self {
        case .finite: "No value of an output is NaN or infinite."
        case .eachValue: "Each value of an output is close to the expected value."
        case .meanAbs: "The mean absolute error of an output is small enough."
        case .psnr: "The PSNR of an output is high enough."
        case .snr: "The SNR of an output is high enough."
        case .halfRatio: "The error of an output is small enough for half precision."
        case .roundingRatio: "The error of an output is small enough for float32."
        case .layerRounding: "The error of an intermediate value is small enough for float32."
        case .meanDeltaE: "The mean CIEDE2000 difference of the colors is small enough."
        case .layerError: "The largest error of an intermediate value is small enough."
        case .layerSNR: "The SNR of an intermediate value is high enough."
        case .maxRelative: "The largest error of an output is small beside its largest value."
        case .weight: "Weights of the reference are unchanged."
        case .judged: "Each requested runtime ran the model."
        case .labels: "The labels of a classifier are those of the other model."
        case .certificate: "No input was found on which the model has NaN or infinity."
        }
    }
}

/// A sentence if a value is above its bound, or NaN.
func failure(_ name: String, _ value: Double, above bound: Double) -> String? {
    value <= bound ? nil : "\(name) \(figure(value, bound)) is above \(plain(bound))"
}

/// A sentence if an error exceeds a multiple of what float32 loses.
func roundingFailure(_ ratio: Double, above bound: Double) -> String? {
    guard !(ratio <= bound) else { return nil }
    return "the error is \(figure(ratio, bound)) times what float32 itself loses, above "
        + "\(plain(bound)) times"
}

/// A sentence if a value in dB is below its bound, or NaN.
func failure(_ name: String, _ value: Double, below bound: Double) -> String? {
    value >= bound ? nil : "\(name) \(figure(value, bound)) dB is below \(plain(bound)) dB"
}
