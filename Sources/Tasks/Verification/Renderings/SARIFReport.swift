import Foundation
import RetintFiles

extension VerificationResults {
    /// Writes a SARIF 2.1.0 log, as GitHub's code scanning reads it: a rule for each kind of bound,
    /// and an error for each violated bound, at the model's path. It replaces an
    /// existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func writeSARIF(to path: some PathConvertible) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try AtomicFile.write(Array(try encoder.encode(SARIFLog(self))), to: path)
    }
}

/// The part of SARIF 2.1.0 that a verification needs; the names are the format's own.
private struct SARIFLog: Encodable {
    struct Text: Encodable { let text: String }

    struct Rule: Encodable {
        struct Configuration: Encodable { let level: String }
        let id: String
        let shortDescription: Text
        let fullDescription: Text
        let help: Text
        let defaultConfiguration: Configuration
    }

    struct Tool: Encodable {
        struct Driver: Encodable {
            let name: String
            let version: String
            let rules: [Rule]
        }
        let driver: Driver
    }

    struct Location: Encodable {
        struct Artifact: Encodable { let uri: String }
        struct Region: Encodable { let startLine: Int }
        struct Physical: Encodable {
            let artifactLocation: Artifact
            let region: Region
        }
        struct Logical: Encodable { let fullyQualifiedName: String }
        let physicalLocation: Physical
        let logicalLocations: [Logical]
    }

    struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Text
        let locations: [Location]
        let partialFingerprints: [String: String]
    }

    struct Run: Encodable {
        let tool: Tool
        let results: [Result]
        /// Where errors come from.
        let properties: [String: String]?
    }

    let schema = "https://json.schemastore.org/sarif-2.1.0.json"
    let version = "2.1.0"
    let runs: [Run]

    private enum CodingKeys: String, CodingKey {
        case version, runs
        case schema = "$schema"
    }

    init(_ results: VerificationResults) {
        let rules = VerificationRule.allCases.map { Rule($0) }
        let driver = Tool.Driver(
            name: "retint", version: results.environment.retint, rules: rules)
        let failed = results.reports.flatMap { report in
            report.checks.filter { $0.failure != nil }.map { Result($0, in: report) }
        }
        let missing = results.missing.map { Result($0, of: results.reports.first?.model ?? "") }
        let properties = results.reports.flatMap(\.diagnosis.properties)
        runs = [
            Run(
                tool: Tool(driver: driver), results: failed + missing,
                properties: properties.isEmpty
                    ? nil : Dictionary(properties.map { ($0.name, $0.value) }) { first, _ in first }
            )
        ]
    }
}

extension SARIFLog.Rule {
    fileprivate init(_ rule: VerificationRule) {
        let summary = SARIFLog.Text(text: rule.summary)
        self.init(
            id: rule.rawValue, shortDescription: summary, fullDescription: summary, help: summary,
            defaultConfiguration: Configuration(level: "error"))
    }
}

extension SARIFLog.Result {
    fileprivate init(_ check: VerificationCheck, in report: VerificationReport) {
        let judge = report.judge == .retint ? "" : "\0\(report.judge.rawValue)"
        self.init(
            check.rule, of: report.model, subject: check.subject,
            identity: "\(check.rule.rawValue)\0\(check.subject)\(judge)",
            "\(check.subject): \(check.failure ?? ""), by \(report.runtime)")
    }

    fileprivate init(_ missing: VerificationResults.MissingJudge, of model: String) {
        self.init(
            .judged, of: model, subject: missing.judge.rawValue,
            identity: "\(VerificationRule.judged.rawValue)\0\(missing.judge.rawValue)",
            missing.description)
    }

    /// - Parameter identity: distinguishes results, and makes a result of the next run the same
    ///   alert as this one.
    private init(
        _ rule: VerificationRule, of model: String, subject: String, identity: String,
        _ message: String
    ) {
        let location = SARIFLog.Location(
            // A model has no lines, but code scanning does not show results without a line.
            physicalLocation: .init(
                artifactLocation: .init(uri: uriReference(model)), region: .init(startLine: 1)),
            logicalLocations: [.init(fullyQualifiedName: subject)])
        var hash = ContentHash()
        hash.update(Array(identity.utf8))
        let print = Array(hash.digest.prefix(8)).hexadecimal
        self.init(
            ruleId: rule.rawValue,
            ruleIndex: VerificationRule.allCases.firstIndex(of: rule) ?? 0, level: "error",
            message: .init(text: message),
            locations: [location], partialFingerprints: ["primaryLocationLineHash": "\(print):1"])
    }
}

/// A path as a URI: an absolute one with the scheme `file`, else a reference to be resolved.
private func uriReference(_ path: String) -> String {
    let allowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
    let encoded = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
    return path.hasPrefix("/") ? "file://" + encoded : encoded
}
