import RetintMLPackage

/// A published rule about what the Neural Engine refuses, runs slowly or computes wrongly, with its
/// sources.
///
/// A rule is not a measurement: Core ML decides on the device, by chip and system, and reports it
/// only in Xcode's performance report and `MLComputePlan`.
public struct PlacementRule: Sendable {
    /// What happens to an operation that the rule applies to.
    public enum Consequence: String, Sendable, Encodable {
        /// It runs on the GPU or the CPU; its inputs and outputs are copied between the devices.
        case refused
        /// It runs on the Neural Engine, but slower or with more memory than necessary.
        case slow
        /// It runs, but computes other values than the program specifies.
        case wrong
    }

    /// How well supported a rule is.
    public enum Certainty: String, Sendable, Encodable {
        /// Stated by Apple, in a document or by a maintainer of coremltools.
        case documented
        /// Reported by users, on some devices.
        case reported
        /// Sources disagree; newer systems often accept what older ones refused.
        case contradicted
    }

    /// The check of a rule; it returns a finding's detail, or nil if the rule does not apply.
    enum Check: Sendable {
        case operation(@Sendable (PlacedOperation) -> String?)
        case feature(@Sendable (Feature) -> String?)
    }

    /// A stable identifier, such as `large-kernel`.
    public let id: String
    /// The subject of the rule.
    public let subject: String
    /// The values that it applies to.
    public let threshold: String
    /// What happens to an operation that the rule applies to.
    public let consequence: Consequence
    /// How well supported the rule is.
    public let certainty: Certainty
    /// The documents, issues or files that the rule is based on.
    public let sources: [String]
    /// How to avoid it.
    public let advice: String
    let check: Check
    /// Adds an equivalent of an operation to the program; false if there is none.
    let rewrite: (@Sendable (PlacedOperation, inout ProgramRewriting) -> Bool)?

    init(
        _ id: String, _ subject: String, threshold: String, _ consequence: Consequence,
        _ certainty: Certainty, sources: [String], advice: String, check: Check,
        rewrite: (@Sendable (PlacedOperation, inout ProgramRewriting) -> Bool)? = nil
    ) {
        self.id = id
        self.subject = subject
        self.threshold = threshold
        self.consequence = consequence
        self.certainty = certainty
        self.sources = sources
        self.advice = advice
        self.check = check
        self.rewrite = rewrite
    }

    /// All rules.
    public static let all =
        tensors + convolutions + spatial + operationTypes + weights + wrongNumbers
}

/// The sources that several rules cite.
enum PlacementSource {
    static let apple = "Apple: apple/coreai-models, neural_engine_rules.md"
    static let typedExecution = "Apple: coremltools guide, Typed Execution"
    static let hollance = "hollance/neural-engine, docs/unsupported-layers.md"
    static let kernelLog = "hollance/neural-engine, issue 2 (the system's own log)"
}
