import Retint

extension Remedy {
    /// The flags whose names do not follow from the parameters' names.
    private static let flags: [String: String] = [
        "maximumDeltaE": "--max-delta-e",
        "foldsBatchNorm": "--no-fold",
        "allowsFolded": "--allow-folded",
        "resumes": "--resume",
        "settings": "--set",
    ]

    /// The flag that sets the parameter: `sampleCount` is `--sample-count`.
    var flag: String {
        let name = Self.flags[parameter] ?? "--" + Self.kebabCase(parameter)
        return value.map { "\(name) \($0)" } ?? name
    }

    private static func kebabCase(_ name: String) -> String {
        name.reduce(into: "") { result, letter in
            result += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }
}

/// An error's description, followed by the flags that avoid the error.
func message(for error: any Error) -> String {
    let flags = ((error as? any RemediableError)?.remedies ?? []).map(\.flag)
    return flags.isEmpty ? "\(error)" : "\(error) (\(flags.joined(separator: ", ")))"
}
