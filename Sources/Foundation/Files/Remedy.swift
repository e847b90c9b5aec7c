/// A parameter of the library whose change avoids an error.
public struct Remedy: Hashable, Sendable, Codable {
    /// The parameters that errors name.
    public enum Parameter: String, Hashable, Sendable, Codable, CaseIterable {
        /// Whether weights are taken from a package whose normalizations are folded.
        case allowsFolded
        /// Whether normalizations are folded into convolutions by an export.
        case foldsBatchNorm
        /// The largest mean ΔE2000 that a search allows.
        case maximumDeltaE
        /// The lowest SNR that a search allows.
        case minimumSNR
        /// The file or folder that is written.
        case output
        /// The precision of an export.
        case precision
        /// Whether training resumes the run in its output folder.
        case resumes
        /// The `key=value` settings of a training.
        case settings
        /// The deployment target of an export.
        case target
        /// The number of elements up to which weights are not compressed.
        case threshold
    }

    /// The parameter to change.
    public let parameter: Parameter
    /// A value that avoids the error, as text; nil if the choice is the caller's.
    public let value: String?

    /// Creates a remedy.
    ///
    /// - Parameters:
    ///   - parameter: the parameter to change.
    ///   - value: a value that avoids the error, as text; nil if the choice is the caller's.
    public init(_ parameter: Parameter, _ value: String? = nil) {
        self.parameter = parameter
        self.value = value
    }
}
