import MLPackage

/// Which operations of a package the Neural Engine is said to refuse or to run badly.
package struct PlacementReport: Sendable, Encodable {
    /// What a rule says about one place.
    package struct Finding: Hashable, Sendable, Encodable {
        package let rule: String
        /// What the operation computes, or an input.
        package let name: String
        /// The operation's type, or `input`.
        package let type: String
        /// For example `has dilation 2 × 2`.
        package let detail: String
    }

    /// A rule with how many places it names.
    package struct Outcome: Sendable, Encodable {
        private enum CodingKeys: String, CodingKey {
            case id, subject, threshold, consequence, certainty, sources, advice, count
        }

        package let rule: PlacementRule
        package let count: Int

        package func encode(to encoder: any Encoder) throws {
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

    /// What the report is not.
    package let notice = "rules, not a measurement: only Core ML on a device knows"
    /// How many there are, constants not counted.
    package let operations: Int
    /// How many of them some rule names.
    package let namedOperations: Int
    /// How many of them are named by a rule that nobody contradicts and that says refused.
    package let refusedOperations: Int
    /// All rules, those that name nothing too.
    package let rules: [Outcome]
    /// In the order of the rules, then of the program.
    package let findings: [Finding]

    private enum CodingKeys: String, CodingKey {
        case notice, operations, namedOperations, refusedOperations, rules, findings
    }

    /// Looks at a package with every rule.
    package init(_ package: MLPackage, rules: [PlacementRule] = PlacementRule.all) {
        let context = PlacedOperation.Context(package.program)
        let computing = package.program.operations.filter {
            !$0.isConstant && !$0.isConstantExpression
        }
        let placed = computing.map { PlacedOperation(operation: $0, context: context) }
        let findings = rules.map { $0.findings(placed, package.description.inputs) }
        let firm = zip(rules, findings).filter {
            $0.0.consequence == .refused && $0.0.certainty != .contradicted
        }
        operations = computing.count
        namedOperations = Self.operations(findings.joined())
        refusedOperations = Self.operations(firm.flatMap(\.1))
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
