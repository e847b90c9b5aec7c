import MLPackage

/// Something that the Neural Engine is said to refuse or to run badly, and who says so.
///
/// A rule is no measurement: Core ML decides on the device, by chip and system, and says it to
/// nobody but Xcode's performance report and `MLComputePlan`.
package struct PlacementRule: Sendable {
    /// What follows for an operation that the rule names.
    package enum Consequence: String, Sendable, Encodable {
        /// It runs on the GPU or the CPU, and tensors are handed over on both sides.
        case refused
        /// It runs on the Neural Engine, slower or with more memory than it could.
        case slow
    }

    /// How sure the rule is.
    package enum Certainty: String, Sendable, Encodable {
        /// Apple says so, in a document or as a maintainer of coremltools.
        case documented
        /// Users found it so on some devices.
        case reported
        /// Some say so, others the opposite; newer systems often take what older ones refused.
        case contradicted
    }

    /// What a rule looks at: where the sentence that it returns is nil, nothing is wrong.
    enum Check: Sendable {
        case operation(@Sendable (PlacedOperation) -> String?)
        case feature(@Sendable (Feature) -> String?)
    }

    package let id: String
    /// What it looks at.
    package let subject: String
    /// From where on it names an operation.
    package let threshold: String
    package let consequence: Consequence
    package let certainty: Certainty
    /// Documents, and repositories with the issue or file.
    package let sources: [String]
    /// What to do about it.
    package let advice: String
    let check: Check

    init(
        _ id: String, _ subject: String, threshold: String, _ consequence: Consequence,
        _ certainty: Certainty, sources: [String], advice: String, check: Check
    ) {
        self.id = id
        self.subject = subject
        self.threshold = threshold
        self.consequence = consequence
        self.certainty = certainty
        self.sources = sources
        self.advice = advice
        self.check = check
    }

    /// All rules.
    package static let all = tensors + convolutions + pictures + kinds + weights
}

/// Who says what.
enum PlacementSource {
    static let apple = "Apple: apple/coreai-models, neural_engine_rules.md"
    static let typedExecution = "Apple: coremltools guide, Typed Execution"
    static let hollance = "hollance/neural-engine, docs/unsupported-layers.md"
    static let kernelLog = "hollance/neural-engine, issue 2 (the system's own log)"
}
