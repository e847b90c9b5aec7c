import Retint

extension Remedy {
    /// The flag that sets the parameter, with the value if there is one.
    var flag: String { value.map { "\(parameter.flag) \($0)" } ?? parameter.flag }
}

extension Remedy.Parameter {
    /// The flag that sets the parameter.
    var flag: String {
        switch self {
        case .allowsFolded: "--allow-folded"
        case .foldsBatchNorm: "--no-fold"
        case .maximumDeltaE: "--max-delta-e"
        case .minimumSNR: "--min-snr"
        case .output: "--output"
        case .precision: "--precision"
        case .resumes: "--resume"
        case .settings: "--set"
        case .target: "retint export --target"
        case .threshold: "--threshold"
        }
    }
}

/// An error's description, followed by the flags that avoid the error.
func message(for error: any Error) -> String {
    let flags = ((error as? any RetintError)?.remedies ?? []).map(\.flag)
    return flags.isEmpty ? "\(error)" : "\(error) (\(flags.joined(separator: ", ")))"
}
