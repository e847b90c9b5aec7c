import RetintMLPackage

/// The operations of a package that, by published rules, the Neural Engine refuses, runs slowly or
/// computes wrongly.
public struct PlacementReport: Sendable, Encodable {
    /// An operation or input that a rule applies to.
    public struct Finding: Hashable, Sendable, Encodable {
        /// The rule's `id`.
        public let rule: String
        /// The name of the operation's result, or of an input.
        public let name: String
        /// The operation's type, or `input`.
        public let type: String
        /// For example `has dilation 2 × 2`.
        public let detail: String
    }

    /// A rule and the number of its findings.
    public struct Outcome: Sendable, Encodable {
        private enum CodingKeys: String, CodingKey {
            case id, subject, threshold, consequence, certainty, sources, advice, count
        }

        /// The rule that was applied.
        public let rule: PlacementRule
        /// The number of operations or inputs that it applies to.
        public let count: Int

        /// Writes the rule's properties and the count as one object.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(rule.id, forKey: .id)
            try container.encode(rule.subject, forKey: .subject)
            try container.encode(rule.threshold, forKey: .threshold)
            try container.encode(rule.consequence, forKey: .consequence)
            try container.encode(rule.certainty, forKey: .certainty)
            try container.encode(rule.sources, forKey: .sources)
            try container.encode(rule.advice, forKey: .advice)
            try container.encode(count, forKey: .count)
        }
    }

    /// A caveat to print beside the report.
    public let notice = "rules, not a measurement: only Core ML on a device knows"
    /// The number of operations, not counting constants.
    public let operations: Int
    /// The number of operations that at least one rule applies to.
    public let namedOperations: Int
    /// The number of operations that are refused according to an uncontradicted rule.
    public let refusedOperations: Int
    /// The number of operations that a device is known to compute incorrectly.
    public let wrongOperations: Int
    /// All rules, including those without findings.
    public let rules: [Outcome]
    /// The findings, in the order of the rules, then of the program.
    public let findings: [Finding]

    private enum CodingKeys: String, CodingKey {
        case notice, operations, namedOperations, refusedOperations, wrongOperations, rules
        case findings
    }

    /// Applies rules to a package.
    ///
    /// - Parameter rules: by default, all rules.
    public init(_ package: MLPackage, rules: [PlacementRule] = PlacementRule.all) {
        let context = PlacedOperation.Context(package.program)
        let computing = package.program.operations.filter {
            !$0.isConstant && !$0.isConstantExpression
        }
        let placed = computing.map { PlacedOperation(operation: $0, context: context) }
        let findings = rules.map { $0.findings(placed, package.description.inputs) }
        func count(_ consequence: PlacementRule.Consequence) -> Int {
            Self.operations(
                zip(rules, findings).filter {
                    $0.0.consequence == consequence && $0.0.certainty != .contradicted
                }.flatMap(\.1))
        }
        operations = computing.count
        namedOperations = Self.operations(findings.joined())
        refusedOperations = count(.refused)
        wrongOperations = count(.wrong)
        self.rules = zip(rules, findings).map { Outcome(rule: $0, count: $1.count) }
        self.findings = Array(findings.joined())
    }

    private static func operations(_ findings: some Sequence<Finding>) -> Int {
        Set(findings.filter { $0.type != Finding.input }.map(\.name)).count
    }
}

extension PlacementReport.Finding {
    fileprivate static let input = "input"
}

extension PlacementRule {
    fileprivate func findings(
        _ operations: [PlacedOperation], _ inputs: [Feature]
    ) -> [PlacementReport.Finding] {
        switch check {
        case .operation(let check):
            operations.compactMap { operation in
                check(operation).map {
                    finding(operation.name, operation.type, $0)
                }
            }
        case .feature(let check):
            inputs.compactMap { input in
                check(input).map { finding(input.name, PlacementReport.Finding.input, $0) }
            }
        }
    }

    private func finding(
        _ name: String, _ type: String, _ detail: String
    ) -> PlacementReport.Finding {
        PlacementReport.Finding(rule: id, name: name, type: type, detail: detail)
    }
}
